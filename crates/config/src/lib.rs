//! tabsense-config
