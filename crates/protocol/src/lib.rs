//! tabsense-protocol
