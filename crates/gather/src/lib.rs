//! tabsense-gather
