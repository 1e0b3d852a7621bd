//! tabsense-model
