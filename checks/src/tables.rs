//! Reference tables: plain data in `checks/data`, each row with its source and date. A model or code that is not in a
//! table gives unknown, never a finding.
