//! Both forges, asked over real connections; each request and answer is judged by the published descriptions.
#![cfg(test)]

mod requests;
mod troubles;
mod yard;
