//! tabsense-history
