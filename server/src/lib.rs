//! Sextant's server: takes raw evidence, keeps it, has it judged by `checks`, and shows what came out through `app`.
//!
//! SQL stands in [`store`] and `migrations/` only, every route in [`routes::router`], all configuration in
//! [`config::Config`]. It holds no rule of any check and no HTML of any page.

// The types of the pages' views nest as deep as the views do.
#![recursion_limit = "512"]

pub mod access;
pub mod api;
pub mod backend;
pub mod blobs;
pub mod body;
pub mod clock;
pub mod config;
pub mod form;
pub mod judge;
pub mod label;
pub mod lock;
pub mod logs;
pub mod metrics;
pub mod packed;
pub mod pages;
pub mod problem;
pub mod reading;
pub mod routes;
pub mod serve;
pub mod site;
pub mod state;
pub mod store;
