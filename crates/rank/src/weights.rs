//! The weights of the linear blends, all in one place.
//!
//! A score is the sum over the features of `weight * value`. Each feature's value is given by the
//! formula beside its weight. The numbers come from replaying histories, not from taste: run
//! `cargo run --release -p tabsense-rank --example fit` (see there) to make them anew.
//!
//! In the formulas, `ln` is the natural logarithm; `share` is a decayed count of the candidate over
//! the same count of all candidates (with 0.5 to 1 added below, so that one sighting is not
//! certainty); *n-th newest use* weighs `2^(-n / half-life)`.

#![allow(
    clippy::approx_constant,
    reason = "a fitted number may come close to a constant"
)]

use std::sync::Arc;

use crate::lines::network::Network;
use crate::priors::Priors;

/// Defines the features of one blend: names, formulas and default weights.
macro_rules! blend {
    ($(#[$doc:meta])* $blend:ident { $($(#[doc = $formula:literal])+ $name:ident = $weight:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $blend { $($(#[doc = $formula])+ $name,)+ }

        impl $blend {
            /// How many features there are.
            pub(crate) const COUNT: usize = [$($blend::$name),+].len();
            /// Their names.
            pub(crate) const NAMES: [&'static str; Self::COUNT] = [$(stringify!($name)),+];
            /// Their default weights.
            pub(crate) const DEFAULT: [f32; Self::COUNT] = [$($weight),+];
        }
    };
}

blend! {
    /// Features of a whole line.
    Line {
        /// 1 if the line was never run.
        New = 0.3703,
        /// If it was never run: ln of the odds that this person's commands are new ones.
        Novelty = 0.4759,
        /// ln(share + 1e-5) of its uses, half-life 50 commands.
        Fast = 0.0000,
        /// The same share itself.
        FastShare = 0.0000,
        /// Share of its newest 12 uses, half-life 8 commands.
        BurstShare = 0.0003,
        /// ln(share + 1e-6), half-life 1500 commands.
        Slow = 0.1382,
        /// ln(1 + uses).
        Count = 0.0000,
        /// ln(commands since its last use).
        Age = 0.1914,
        /// ln of how often this person's next command was last used just so many commands ago.
        Habit = 0.0109,
        /// The same after a command whose own last use was as long ago as the previous command's.
        HabitNext = 0.1104,
        /// 1 if it is the previous command.
        Previous = -2.5784,
        /// 1 if it is the one before the previous command.
        Second = -0.3989,
        /// 1 if it is the third last command.
        Third = -0.1760,
        /// ln of the share that followed the previous command, backed off to `Fast`.
        After = 0.0000,
        /// Share that followed the previous command, half-life 20 sightings.
        AfterShare = 0.4771,
        /// 1 if it is what followed the previous command the last time.
        AfterNewest = 0.1740,
        /// Share that followed the previous two commands, half-life 10 sightings.
        AfterTwoShare = 0.7128,
        /// Share that followed the previous three commands, half-life 10 sightings.
        AfterThreeShare = 0.8254,
        /// Share that followed the previous command in this directory.
        AfterHereShare = 0.6039,
        /// Share that came two commands after the one before the previous command.
        SkipShare = 0.3782,
        /// ln of the share that followed a command with the same first two words, backed off.
        Pair = 0.0253,
        /// ln of the share that followed a command with the same first word, backed off.
        Head = 0.0006,
        /// ln of the share in this directory, half-life 50 commands there, backed off.
        Here = 0.0000,
        /// The same share itself.
        HereShare = 0.0000,
        /// The same share, half-life 300 commands there.
        HereSlowShare = 0.0000,
        /// 1 / (commands in this directory since its last use here).
        HereAge = 0.3815,
        /// Share in the project's other directories and those above.
        AroundShare = 0.0545,
        /// At the start of a session or after a pause: share of such starts, half-life 20 starts.
        StartShare = 2.5161,
        /// ln of the probability when every kind of evidence is backed off to the next weaker one.
        Chained = 0.0000,
        /// ln(1e-4 + 0.2 FastShare + 0.15 BurstShare + 0.2 HereShare + 0.3 AfterShare
        /// + 0.2 AfterTwoShare + 0.1 share after the same first two words): any one suffices.
        Mixed = 0.2188,
        /// Share of its uses that failed.
        Failed = -1.0000,
        /// ln of the share of its newest 12 uses within two hours of this time of day.
        Hour = 0.0292,
        /// ln(1 + minutes since its last use); 0 if either time is not known.
        Minutes = 0.0134,
        /// |ln(time since its last use) - ln(time between its last two uses)|, in commands.
        Rhythm = -0.0877,
        /// 1 / (its place among the session's recent commands, the newest 1).
        Session = 0.5689,
        /// 1 if it goes by relative path and was never used in this directory.
        Elsewhere = -0.6705,
        /// ln(1 + 100 share), where share is that of the times that the previous command's pattern
        /// led to it.
        Template = 0.3824,
        /// The same if the line was never run.
        TemplateNew = 1.1602,
        /// 1 if a stock pattern gives it (`mkdir x`, then `cd x`).
        Stock = 3.0143,
        /// 1 / (commands since its argument was named), for lines made from an argument.
        Carried = 0.9794,
        /// ln of the share of its first word's uses that took an argument named just before.
        CarryHabit = 0.1538,
        /// ln of the share of its first word after the previous first word.
        NextHead = 0.0091,
        /// ln of the share of its first word after this very command, backed off to `NextHead`.
        AfterHead = 0.0703,
        /// ln(share + 1e-4) of its first word, half-life 50 commands.
        HeadFast = 0.2040,
        /// ln(share + 1e-4) of its first two words, half-life 50 commands.
        PairFast = -0.1149,
        /// ln(share + 0.01) of its first word in this directory, half-life 50 commands there.
        HeadHere = 0.0000,
        /// ln(share + 0.01) among the newest 64 uses of its first word, half-life 10 of them.
        InHead = 0.1089,
        /// The same share among those in this directory.
        InHeadHere = 0.0000,
        /// ln(uses of its first word since its last use).
        HeadAge = -0.0693,
        /// 1 if it is the newest line with its first word.
        HeadNewest = 0.3029,
        /// ln(1e-4 + the chance of its first word times that of it among the lines with that word).
        Factored = 0.0243,
        /// ln of its length in bytes.
        Length = -0.0801,
        /// 1 if it has the same first two words as the previous command but is another line.
        SamePair = -0.2718,
        /// Length of what it shares at the start with the previous command, over the longer length.
        Alike = 1.7880,
        /// `Alike` if the previous command failed.
        Repair = 0.3000,
        /// ln of the chance of its first word after the previous one for people at large.
        Prior = 0.0000,
        /// What a small network over the others adds; see `lines/network.rs`.
        Network = 1.0000,
    }
}

blend! {
    /// Features of a word. *Entries* are files and directories.
    ///
    /// The values about people at large, `PriorFirst` to `PriorPairName`, fade as a person's own
    /// history grows: they are multiplied by 60 / (60 + commands) at the first word, and by
    /// 4 / (4 + decayed count of the command's arguments) at others.
    Word {
        /// Share of the likely lines (softmax over their scores) that have it here.
        LineShare = 0.7238,
        /// ln(LineShare + 0.002).
        Line = 0.2912,
        /// Share of the command's uses with it at this place, half-life 40 uses.
        PlaceShare = 0.5693,
        /// ln(PlaceShare + 0.002).
        Place = 0.2911,
        /// ln(share with it at any place + 0.002).
        Any = -0.3085,
        /// Share of the command's uses in this directory with it at any place.
        HereShare = 0.5509,
        /// Share after the option before the cursor.
        OptionShare = 1.2811,
        /// 1 / (uses of the command since it was taken last).
        Newest = 1.3699,
        /// Commands: ln(share of the first words + 1e-4), half-life 50 commands.
        First = 0.2703,
        /// Commands: ln(1 + uses as first word).
        FirstCount = -0.0298,
        /// Commands: ln(share of first words after the previous first word + 0.005).
        FirstAfter = 0.3345,
        /// Arguments: ln of how much likelier this person's own uses make the kind of name.
        Kind = 0.0017,
        /// 1 if one of the last 8 commands names it or a path through it.
        Mentioned = 0.4253,
        /// ln(commands since then, from 1).
        MentionAge = -0.1752,
        /// 1 / (commands since it was made, cloned, unpacked or edited).
        Made = 0.1319,
        /// 1 / (commands since the same command named it).
        SameCommand = -1.2619,
        /// 1 if the same command had it here the last time.
        Again = -0.1505,
        /// 1 if it comes right after the one that the same command had here the last time.
        Follows = 0.0818,
        /// Length of what it shares at the start with the one had here the last time, over the
        /// longer length.
        Alike = 0.7484,
        /// 1 if the line has it already.
        Present = -2.4930,
        /// Commands: ln of the chance of the first word for people at large.
        PriorFirst = 0.3017,
        /// Commands: ln of how much likelier the previous first word makes it.
        PriorNext = 0.4992,
        /// Commands: ln of how much likelier a name in the directory makes it, for the best name.
        Marker = 0.3762,
        /// Commands: the same, mean over the names.
        Markers = 0.4284,
        /// Arguments: ln of the chance of the subcommand for people at large.
        PriorSub = 0.7589,
        /// Arguments: ln of how much likelier the last subcommand of this command makes it.
        PriorNextSub = 0.9606,
        /// Arguments: ln of the chance of the kind of name after the command for people at large.
        PriorKind = 0.2128,
        /// Arguments: ln of how much likelier the subcommand makes the kind.
        PriorPairKind = 0.3964,
        /// Arguments: ln of how much likelier the option before makes the kind.
        PriorOptionKind = 1.1623,
        /// Arguments: ln of the chance of the name, whatever the command.
        PriorName = 0.1981,
        /// Arguments: ln of the chance of the name after the command.
        PriorCommandName = -0.1468,
        /// Arguments: ln of how much likelier the subcommand and the option make the name.
        PriorPairName = 0.5543,
        /// Entries: ln of the number of candidates with the same kind of name.
        Crowd = -0.0808,
        /// Entries: mean over the parts of the name of 1 / (commands since a command had it).
        RecentParts = 0.8040,
        /// Entries: share of the parts of the name that stand in the line already.
        LineParts = 1.1936,
        /// Entries: share of the parts of the name that the directory's name has.
        HereParts = 0.8503,
        /// Entries: 1 if the name starts with a dot.
        Hidden = -0.5473,
        /// Entries: ln(1 + length of the name).
        Length = -0.4333,
        /// Directories: ln(1 + visits).
        Visited = 0.1149,
        /// Directories: share of the visits from here, half-life 10 visits.
        FromHere = 0.8043,
        /// ln(1 + times it was taken from a list that was offered here).
        Taken = 0.3000,
        /// ln(times it stood first here and another was taken, since it was taken itself).
        PassedOver = -1.0000,
        /// exp(-hours since it was modified).
        Fresh = 0.5000,
        /// exp(-days since it was modified).
        FreshDay = 0.3000,
        /// Place of the match among the kinds of matches, 0 (exact) to 1 (typo).
        Quality = -8.0000,
        /// Number of `/` inside the path.
        Depth = -0.3489,
        /// Place in the shell's own order over the number of candidates.
        Native = -0.1946,
    }
}

blend! {
    /// Features of a directory to go to.
    Directory {
        /// ln(share + 1e-4) of the visits, half-life 40 visits.
        Frecency = 0.0136,
        /// The same share itself.
        FrecencyShare = 0.6523,
        /// ln(1 + visits).
        Visits = 0.0000,
        /// ln(visits since the newest one).
        Age = -0.0259,
        /// 1 if it is where one was before.
        Back = 0.1230,
        /// 1 if it was never gone to.
        Never = 1.1488,
        /// Share of the visits from here, half-life 8 visits from here.
        FromShare = 0.2687,
        /// ln of the same, backed off to `FrecencyShare`.
        From = 0.0547,
        /// 1 if it is where one went from here the last time.
        FromNewest = 0.1023,
        /// ln(1 + visits from here).
        FromCount = 0.2236,
        /// ln(zoxide's factor for the time since the newest visit).
        Zoxide = 0.6678,
        /// 1 if it is in this directory.
        Child = 0.8240,
        /// 1 if it is somewhere below this directory.
        Below = 1.0064,
        /// 1 if it is in the same parent directory.
        Sibling = 1.5935,
        /// 1 if it is above this directory.
        Above = 0.8041,
        /// 1 / (commands since its name came up).
        Mentioned = 1.7505,
        /// 1 / (commands since it was made, cloned or unpacked).
        Made = 1.9570,
        /// Share of the likely `cd` lines (softmax over their scores) that lead to it.
        LineShare = 0.4002,
        /// ln(LineShare + 0.002).
        Line = 0.2538,
        /// ln(1 + commands run in it).
        Used = 0.2424,
        /// Number of its path's parts.
        Depth = -0.0834,
    }
}

/// Weights of the blends, and the priors that some features look up.
#[derive(Debug, Clone)]
pub struct Weights {
    pub(crate) lines: [f32; Line::COUNT],
    pub(crate) words: [f32; Word::COUNT],
    pub(crate) directories: [f32; Directory::COUNT],
    pub(crate) priors: Arc<Priors>,
    pub(crate) network: Arc<Network>,
    /// Weights of a decision model's log-probabilities beside the blends.
    pub model: ModelWeights,
}

/// How much a decision model's log-probabilities count, by what is decided, where nothing is known of
/// what this person does; see [`crate::model_weight`]. The default is not at all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelWeights {
    /// The name of a command.
    pub command: f32,
    /// Any other word.
    pub word: f32,
    /// A file or directory.
    pub path: f32,
    /// A whole line; 0 = not asked.
    pub line: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            lines: Line::DEFAULT,
            words: Word::DEFAULT,
            directories: Directory::DEFAULT,
            priors: Priors::built_in(),
            network: Network::built_in(),
            model: ModelWeights {
                // Best on completion cases, by reciprocal rank; 1.5 to 3 are alike.
                command: 2.0,
                word: 2.0,
                // The middle of 0.15 to 0.3, which are alike.
                path: 0.25,
                line: 0.0,
            },
        }
    }
}

/// Which blend is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blend {
    /// Whole lines.
    Lines,
    /// Words.
    Words,
    /// Directories.
    Directories,
}

impl Blend {
    /// Names of the features, in the order of their values.
    pub fn features(self) -> &'static [&'static str] {
        match self {
            Blend::Lines => &Line::NAMES,
            Blend::Words => &Word::NAMES,
            Blend::Directories => &Directory::NAMES,
        }
    }
}

impl Weights {
    /// Uses another table of priors.
    pub fn set_priors(&mut self, priors: Arc<Priors>) {
        self.priors = priors;
    }

    /// Uses another network over the features of a line.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.network = network;
    }

    /// The network over the features of a line.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The weights of a blend, in the order of [`Blend::features`].
    pub fn of(&self, blend: Blend) -> &[f32] {
        match blend {
            Blend::Lines => &self.lines,
            Blend::Words => &self.words,
            Blend::Directories => &self.directories,
        }
    }

    /// The same, to change them.
    pub fn of_mut(&mut self, blend: Blend) -> &mut [f32] {
        match blend {
            Blend::Lines => &mut self.lines,
            Blend::Words => &mut self.words,
            Blend::Directories => &mut self.directories,
        }
    }
}
