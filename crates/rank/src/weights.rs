//! The weights of the linear blends, all in one place.
//!
//! A score is the sum over the features of `weight * value`. Each feature's value is given by the
//! formula beside its weight. The numbers come from replaying histories, not from taste: run
//! `cargo run --release -p tabsense-rank --example fit` (see there) to make them anew.
//!
//! In the formulas, `ln` is the natural logarithm; `share` is a decayed count of the candidate over
//! the same count of all candidates (with 0.5 to 1 added below, so that one sighting is not
//! certainty); *n-th newest use* weighs `2^(-n / half-life)`.

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
        New = 4.7200,
        /// ln(share + 1e-5) of its uses, half-life 50 commands.
        Fast = 0.0048,
        /// The same share itself.
        FastShare = -1.6020,
        /// Share of its newest 12 uses, half-life 8 commands.
        BurstShare = 3.4960,
        /// ln(share + 1e-6), half-life 1500 commands.
        Slow = -0.2728,
        /// ln(1 + uses).
        Count = 0.6633,
        /// ln(commands since its last use).
        Age = 0.1960,
        /// ln of how often this person's next command was last used just so many commands ago.
        Habit = 0.3433,
        /// 1 if it is the previous command.
        Previous = -2.6117,
        /// 1 if it is the one before the previous command.
        Second = -0.3930,
        /// 1 if it is the third last command.
        Third = -0.1149,
        /// ln of the share that followed the previous command, backed off to `Fast`.
        After = 0.0233,
        /// Share that followed the previous command, half-life 20 sightings.
        AfterShare = 0.7184,
        /// 1 if it is what followed the previous command the last time.
        AfterNewest = 0.1251,
        /// Share that followed the previous two commands, half-life 10 sightings.
        AfterTwoShare = 0.6777,
        /// Share that followed the previous three commands, half-life 10 sightings.
        AfterThreeShare = 0.4551,
        /// Share that followed the previous command in this directory.
        AfterHereShare = 0.6068,
        /// Share that came two commands after the one before the previous command.
        SkipShare = 0.5824,
        /// ln of the share that followed a command with the same first two words, backed off.
        Pair = 0.0325,
        /// ln of the share that followed a command with the same first word, backed off.
        Head = -0.0129,
        /// ln of the share in this directory, half-life 50 commands there, backed off.
        Here = 0.0396,
        /// The same share itself.
        HereShare = 0.2401,
        /// The same share, half-life 300 commands there.
        HereSlowShare = -1.5777,
        /// 1 / (commands in this directory since its last use here).
        HereAge = 1.0346,
        /// Share in the project's other directories and those above.
        AroundShare = -0.1613,
        /// ln of the probability when every kind of evidence is backed off to the next weaker one.
        Chained = 0.1348,
        /// Share of its uses that failed.
        Failed = -0.5000,
        /// ln of the share of its newest 12 uses within two hours of this time of day.
        Hour = 0.0151,
        /// ln(1 + minutes since its last use); 0 if either time is not known.
        Minutes = -0.0628,
        /// |ln(time since its last use) - ln(time between its last two uses)|, in commands.
        Rhythm = 0.0276,
        /// 1 / (its place among the session's recent commands, the newest 1).
        Session = -0.2808,
        /// 1 if it goes by relative path and was never used in this directory.
        Elsewhere = -0.6497,
        /// Share of the times that the previous command's pattern led to it.
        TemplateShare = -4.3834,
        /// ln of the same.
        Template = 1.5576,
        /// 1 if a stock pattern gives it (`mkdir x`, then `cd x`).
        Stock = 2.0903,
        /// 1 / (commands since its argument was named), for lines made from an argument.
        Carried = 1.2223,
        /// ln of the share of its first word's uses that took an argument named just before.
        CarryHabit = 0.2433,
        /// ln of the share of its first word after the previous first word.
        NextHead = 0.1497,
        /// ln of its length in bytes.
        Length = -0.1406,
        /// 1 if it has the same first two words as the previous command but is another line.
        SamePair = -0.9591,
        /// Length of what it shares at the start with the previous command, over the longer length.
        Alike = 1.9173,
        /// `Alike` if the previous command failed.
        Repair = 0.0000,
        /// ln of the chance of its first word after the previous one for people at large.
        Prior = 0.0080,
    }
}

blend! {
    /// Features of a word.
    Word {
        /// Share of the likely lines (softmax over their scores) that have it here.
        LineShare = 0.9304,
        /// ln(LineShare + 0.002).
        Line = 0.2656,
        /// Share of the command's uses with it at this place, half-life 40 uses.
        PlaceShare = 0.4616,
        /// ln(PlaceShare + 0.002).
        Place = 0.3020,
        /// ln(share with it at any place + 0.002).
        Any = -0.2796,
        /// Share of the command's uses in this directory with it at any place.
        HereShare = 0.3026,
        /// Share after the option before the cursor.
        OptionShare = 1.6539,
        /// 1 / (uses of the command since it was taken last).
        Newest = 1.6037,
        /// Commands: ln(share of the first words + 1e-4), half-life 50 commands.
        First = 0.2716,
        /// Commands: ln(1 + uses as first word).
        FirstCount = -0.1042,
        /// Commands: ln(share of first words after the previous first word + 0.005).
        FirstAfter = 0.2063,
        /// Arguments: ln of the share of this kind of name among what this person gave the command.
        Kind = -0.0482,
        /// 1 if one of the last 8 commands names it or a path through it.
        Mentioned = 0.6062,
        /// ln(commands since then, from 1).
        MentionAge = -0.2653,
        /// 1 / (commands since it was made, cloned, unpacked or edited).
        Made = 0.3862,
        /// 1 / (commands since the same command named it).
        SameCommand = -1.4869,
        /// 1 if the same command had it here the last time.
        Again = -0.2178,
        /// 1 if it comes right after the one that the same command had here the last time.
        Follows = 0.0443,
        /// Length of what it shares at the start with the one had here the last time, over the
        /// longer length.
        Alike = 0.7267,
        /// 1 if the line has it already.
        Present = -2.5520,
        /// Commands: ln of the chance of the first word for people at large.
        PriorFirst = 0.0549,
        /// Commands: ln of how much likelier the previous first word makes it.
        PriorNext = 0.0911,
        /// Commands: ln of how much likelier a name in the directory makes it, for the best name.
        Marker = 0.5325,
        /// Commands: the same, mean over the names.
        Markers = 0.5888,
        /// Arguments: ln of the chance of the subcommand for people at large.
        PriorSub = 0.3098,
        /// Arguments: ln of how much likelier the last subcommand of this command makes it.
        PriorNextSub = 0.3024,
        /// Arguments: ln of the chance of the kind of name after the command for people at large.
        PriorKind = 0.1374,
        /// Arguments: ln of how much likelier the subcommand makes the kind.
        PriorPairKind = 0.1943,
        /// Arguments: ln of how much likelier the option before makes the kind.
        PriorOptionKind = 0.5271,
        /// Arguments: ln of the chance of the name, whatever the command.
        PriorName = 0.1223,
        /// Arguments: ln of the chance of the name after the command.
        PriorCommandName = -0.0804,
        /// Arguments: ln of how much likelier the subcommand and the option make the name.
        PriorPairName = 0.2989,
        /// Directories: ln(1 + visits).
        Visited = -0.5868,
        /// Directories: share of the visits from here, half-life 10 visits.
        FromHere = 1.6898,
        /// exp(-hours since it was modified).
        Fresh = 0.5000,
        /// exp(-days since it was modified).
        FreshDay = 0.3000,
        /// Place of the match among the kinds of matches, 0 (exact) to 1 (typo).
        Quality = -8.0000,
        /// Number of `/` inside the path.
        Depth = -0.1097,
        /// Place in the shell's own order over the number of candidates.
        Native = -0.2000,
    }
}

blend! {
    /// Features of a directory to go to.
    Directory {
        /// ln(share + 1e-4) of the visits, half-life 40 visits.
        Frecency = -0.0273,
        /// The same share itself.
        FrecencyShare = 1.4901,
        /// ln(1 + visits).
        Visits = 0.0126,
        /// ln(visits since the newest one).
        Age = 0.0883,
        /// 1 if it is where one was before.
        Back = -0.0315,
        /// 1 if it was never gone to.
        Never = 0.2066,
        /// Share of the visits from here, half-life 8 visits from here.
        FromShare = 1.5444,
        /// ln of the same, backed off to `FrecencyShare`.
        From = -0.0325,
        /// 1 if it is where one went from here the last time.
        FromNewest = -0.0099,
        /// ln(1 + visits from here).
        FromCount = 0.2805,
        /// ln(zoxide's factor for the time since the newest visit).
        Zoxide = 0.8872,
        /// 1 if it is in this directory.
        Child = 0.9890,
        /// 1 if it is somewhere below this directory.
        Below = 0.9965,
        /// 1 if it is in the same parent directory.
        Sibling = 1.6537,
        /// 1 if it is above this directory.
        Above = 1.0906,
        /// 1 / (commands since its name came up).
        Mentioned = 2.1085,
        /// 1 / (commands since it was made, cloned or unpacked).
        Made = 1.6050,
        /// Share of the likely `cd` lines (softmax over their scores) that lead to it.
        LineShare = 1.6734,
        /// ln(LineShare + 0.002).
        Line = 0.1790,
        /// ln(1 + commands run in it).
        Used = 0.1347,
        /// Number of its path's parts.
        Depth = -0.0535,
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
