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
        New = 1.0509,
        /// ln(share + 1e-5) of its uses, half-life 50 commands.
        Fast = -0.0583,
        /// The same share itself.
        FastShare = -2.4035,
        /// Share of its newest 12 uses, half-life 8 commands.
        BurstShare = 2.8508,
        /// ln(share + 1e-6), half-life 1500 commands.
        Slow = 0.5692,
        /// ln(1 + uses).
        Count = -0.1623,
        /// ln(commands since its last use).
        Age = 0.1543,
        /// ln of how often this person's next command was last used just so many commands ago.
        Habit = 0.4372,
        /// 1 if it is the previous command.
        Previous = -1.2366,
        /// 1 if it is the one before the previous command.
        Second = -0.3706,
        /// 1 if it is the third last command.
        Third = -0.1062,
        /// ln of the share that followed the previous command, backed off to `Fast`.
        After = -0.0048,
        /// Share that followed the previous command, half-life 20 sightings.
        AfterShare = 1.3227,
        /// 1 if it is what followed the previous command the last time.
        AfterNewest = 0.1486,
        /// Share that followed the previous two commands, half-life 10 sightings.
        AfterTwoShare = 0.5278,
        /// Share that followed the previous three commands, half-life 10 sightings.
        AfterThreeShare = 0.3793,
        /// Share that followed the previous command in this directory.
        AfterHereShare = 0.5744,
        /// Share that came two commands after the one before the previous command.
        SkipShare = 0.7633,
        /// ln of the share that followed a command with the same first two words, backed off.
        Pair = 0.0496,
        /// ln of the share that followed a command with the same first word, backed off.
        Head = -0.0421,
        /// ln of the share in this directory, half-life 50 commands there, backed off.
        Here = 0.0307,
        /// The same share itself.
        HereShare = 0.2627,
        /// The same share, half-life 300 commands there.
        HereSlowShare = -1.7456,
        /// 1 / (commands in this directory since its last use here).
        HereAge = 0.8147,
        /// Share in the project's other directories and those above.
        AroundShare = 0.3409,
        /// ln of the probability when every kind of evidence is backed off to the next weaker one.
        Chained = 0.1409,
        /// Share of its uses that failed.
        Failed = -1.0000,
        /// ln of the share of its newest 12 uses within two hours of this time of day.
        Hour = 0.0440,
        /// ln(1 + minutes since its last use); 0 if either time is not known.
        Minutes = -0.0262,
        /// |ln(time since its last use) - ln(time between its last two uses)|, in commands.
        Rhythm = -0.0148,
        /// 1 / (its place among the session's recent commands, the newest 1).
        Session = -0.5394,
        /// 1 if it goes by relative path and was never used in this directory.
        Elsewhere = -0.6504,
        /// ln(1 + 100 share), where share is that of the times that the previous command's pattern
        /// led to it.
        Template = 0.4740,
        /// The same if the line was never run.
        TemplateNew = 1.2352,
        /// 1 if a stock pattern gives it (`mkdir x`, then `cd x`).
        Stock = 2.1788,
        /// 1 / (commands since its argument was named), for lines made from an argument.
        Carried = 1.1900,
        /// ln of the share of its first word's uses that took an argument named just before.
        CarryHabit = 0.2096,
        /// ln of the share of its first word after the previous first word.
        NextHead = 0.1374,
        /// ln of its length in bytes.
        Length = -0.2046,
        /// 1 if it has the same first two words as the previous command but is another line.
        SamePair = -0.5848,
        /// Length of what it shares at the start with the previous command, over the longer length.
        Alike = 1.9553,
        /// `Alike` if the previous command failed.
        Repair = 0.3000,
        /// ln of the chance of its first word after the previous one for people at large.
        Prior = 0.0107,
    }
}

blend! {
    /// Features of a word.
    Word {
        /// Share of the likely lines (softmax over their scores) that have it here.
        LineShare = 0.6762,
        /// ln(LineShare + 0.002).
        Line = 0.2831,
        /// Share of the command's uses with it at this place, half-life 40 uses.
        PlaceShare = 0.5110,
        /// ln(PlaceShare + 0.002).
        Place = 0.2818,
        /// ln(share with it at any place + 0.002).
        Any = -0.2484,
        /// Share of the command's uses in this directory with it at any place.
        HereShare = 0.4238,
        /// Share after the option before the cursor.
        OptionShare = 1.6237,
        /// 1 / (uses of the command since it was taken last).
        Newest = 1.6136,
        /// Commands: ln(share of the first words + 1e-4), half-life 50 commands.
        First = 0.3103,
        /// Commands: ln(1 + uses as first word).
        FirstCount = -0.1037,
        /// Commands: ln(share of first words after the previous first word + 0.005).
        FirstAfter = 0.2275,
        /// Arguments: ln of how much likelier this person's own uses make the kind of name.
        Kind = 0.0321,
        /// 1 if one of the last 8 commands names it or a path through it.
        Mentioned = 0.7640,
        /// ln(commands since then, from 1).
        MentionAge = -0.3271,
        /// 1 / (commands since it was made, cloned, unpacked or edited).
        Made = 0.3335,
        /// 1 / (commands since the same command named it).
        SameCommand = -1.7943,
        /// 1 if the same command had it here the last time.
        Again = -0.1776,
        /// 1 if it comes right after the one that the same command had here the last time.
        Follows = 0.0875,
        /// Length of what it shares at the start with the one had here the last time, over the
        /// longer length.
        Alike = 0.9053,
        /// 1 if the line has it already.
        Present = -2.2218,
        /// Commands: ln of the chance of the first word for people at large.
        PriorFirst = 0.0528,
        /// Commands: ln of how much likelier the previous first word makes it.
        PriorNext = 0.0945,
        /// Commands: ln of how much likelier a name in the directory makes it, for the best name.
        Marker = 0.5353,
        /// Commands: the same, mean over the names.
        Markers = 0.5782,
        /// Arguments: ln of the chance of the subcommand for people at large.
        PriorSub = 0.3075,
        /// Arguments: ln of how much likelier the last subcommand of this command makes it.
        PriorNextSub = 0.2867,
        /// Arguments: ln of the chance of the kind of name after the command for people at large.
        PriorKind = 0.1025,
        /// Arguments: ln of how much likelier the subcommand makes the kind.
        PriorPairKind = 0.1980,
        /// Arguments: ln of how much likelier the option before makes the kind.
        PriorOptionKind = 0.4263,
        /// Arguments: ln of the chance of the name, whatever the command.
        PriorName = 0.1236,
        /// Arguments: ln of the chance of the name after the command.
        PriorCommandName = -0.0544,
        /// Arguments: ln of how much likelier the subcommand and the option make the name.
        PriorPairName = 0.2461,
        /// Directories: ln(1 + visits).
        Visited = -0.6669,
        /// Directories: share of the visits from here, half-life 10 visits.
        FromHere = 0.5145,
        /// exp(-hours since it was modified).
        Fresh = 0.5000,
        /// exp(-days since it was modified).
        FreshDay = 0.3000,
        /// Place of the match among the kinds of matches, 0 (exact) to 1 (typo).
        Quality = -8.0000,
        /// Number of `/` inside the path.
        Depth = -0.1778,
        /// Place in the shell's own order over the number of candidates.
        Native = -0.2000,
    }
}

blend! {
    /// Features of a directory to go to.
    Directory {
        /// ln(share + 1e-4) of the visits, half-life 40 visits.
        Frecency = -0.1141,
        /// The same share itself.
        FrecencyShare = 0.6968,
        /// ln(1 + visits).
        Visits = 0.0140,
        /// ln(visits since the newest one).
        Age = 0.1083,
        /// 1 if it is where one was before.
        Back = 0.2446,
        /// 1 if it was never gone to.
        Never = 0.9943,
        /// Share of the visits from here, half-life 8 visits from here.
        FromShare = 0.2165,
        /// ln of the same, backed off to `FrecencyShare`.
        From = 0.1444,
        /// 1 if it is where one went from here the last time.
        FromNewest = 0.1397,
        /// ln(1 + visits from here).
        FromCount = -0.0736,
        /// ln(zoxide's factor for the time since the newest visit).
        Zoxide = 0.8552,
        /// 1 if it is in this directory.
        Child = 0.8705,
        /// 1 if it is somewhere below this directory.
        Below = 0.8879,
        /// 1 if it is in the same parent directory.
        Sibling = 1.7560,
        /// 1 if it is above this directory.
        Above = 1.0672,
        /// 1 / (commands since its name came up).
        Mentioned = 1.5875,
        /// 1 / (commands since it was made, cloned or unpacked).
        Made = 1.7834,
        /// Share of the likely `cd` lines (softmax over their scores) that lead to it.
        LineShare = 0.6221,
        /// ln(LineShare + 0.002).
        Line = 0.2600,
        /// ln(1 + commands run in it).
        Used = 0.2145,
        /// Number of its path's parts.
        Depth = -0.0755,
    }
}

/// Weights of the blends, and the priors that some features look up.
#[derive(Debug, Clone)]
pub struct Weights {
    pub(crate) lines: [f32; Line::COUNT],
    pub(crate) words: [f32; Word::COUNT],
    pub(crate) directories: [f32; Directory::COUNT],
    pub(crate) priors: Arc<Priors>,
    /// Weight of a decision model's log-probabilities beside the blends.
    pub model: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            lines: Line::DEFAULT,
            words: Word::DEFAULT,
            directories: Directory::DEFAULT,
            priors: Priors::built_in(),
            model: 1.0,
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
