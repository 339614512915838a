//! The nvidia-smi family. One file a format; `nvidia-smi -q`, its XML and `--query-gpu` share the table of fields in
//! [`field`].
//!
//! These parsers read what is printed. They do not judge it, and where a line could belong to two things they leave the
//! value out.

mod csv;
mod field;
mod latest;
mod q;
mod reading;
mod table;
mod value;
mod xml;

pub(super) use csv::{csv, looks_like_csv, starts_csv};
pub(super) use q::{looks_like_q, q, starts_q};
pub(super) use table::{looks_like_table, starts_table, table};
pub(super) use xml::{looks_like_xml, starts_xml, xml};
