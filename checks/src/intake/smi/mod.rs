//! The nvidia-smi family. One file a format; `nvidia-smi -q`, its XML and `--query-gpu` share the table of fields in
//! [`field`].
//!
//! These parsers read what is printed. They do not judge it, and where a line could belong to two things they leave the
//! value out.

mod columns;
mod csv;
mod diag;
mod field;
mod latest;
mod nvlink;
mod q;
mod reading;
mod table;
mod topo;
mod tree;
mod value;
mod xml;

pub(super) use columns::{
    dcgmi_dmon, dmon, looks_like_dcgmi_dmon, looks_like_dmon, looks_like_pmon, pmon, starts_dcgmi_dmon, starts_dmon,
    starts_pmon,
};
pub(super) use csv::{csv, looks_like_csv, starts_csv};
pub(super) use diag::{diag, looks_like_diag};
pub(super) use nvlink::{looks_like_nvlink, nvlink, starts_nvlink};
pub(super) use q::{looks_like_q, q, starts_q};
pub(super) use table::{looks_like_table, starts_table, table};
pub(super) use topo::{looks_like_topo, starts_topo, topo};
pub(super) use xml::{looks_like_xml, starts_xml, xml};
