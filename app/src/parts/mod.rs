//! The pieces that pages are made of: one file a component, drawn from a report and nothing else.
//!
//! They read no data of their own; what they show is handed to them.

pub(crate) mod check;
pub(crate) mod cmd;
pub(crate) mod crumbs;
pub(crate) mod duo;
pub(crate) mod evidence;
pub(crate) mod facts;
pub(crate) mod findings;
pub(crate) mod gauges;
pub(crate) mod inputs;
pub(crate) mod ladder;
pub(crate) mod lamp;
pub(crate) mod lanes;
pub(crate) mod markdown;
pub(crate) mod next;
pub(crate) mod notices;
pub(crate) mod runs;
pub(crate) mod stepbar;
pub(crate) mod topbar;
pub(crate) mod verdict;
pub(crate) mod words;
