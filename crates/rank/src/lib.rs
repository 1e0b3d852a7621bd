//! tabsense-rank
