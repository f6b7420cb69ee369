//! The shapes of calls that most paths share.

use reqwest::{Method, header};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ANSWER_TIMEOUT, Client, ClientError};
use crate::{Page, Session, Success};

impl Client {
    /// Makes a call whose answer says only that it was done.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn act(
        &self,
        method: Method,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<(), ClientError> {
        let mut request = self.request(method, path).timeout(ANSWER_TIMEOUT);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.send(request).await.map(drop)
    }

    /// Makes a change that is refused if the thing has another version by now.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn change<T: DeserializeOwned>(
        &self,
        path: &str,
        version: i64,
        body: &(impl Serialize + Sync),
    ) -> Result<T, ClientError> {
        let request = self.request(Method::PATCH, path).json(body);
        let request = request.header(header::IF_MATCH, format!("\"{version}\""));
        Ok(self.read::<Success<T>>(request).await?.data)
    }

    /// Asks for something by a path and a query such as `limit=20`.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<T, ClientError> {
        let request = self.request(Method::GET, path).query(query);
        Ok(self.read::<Success<T>>(request).await?.data)
    }

    /// Returns one page of a list by a query such as `limit=20`.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Page<T>, ClientError> {
        self.get(path, query).await
    }

    /// Returns who this client is to the server.
    ///
    /// # Errors
    /// If the server cannot be reached or does not know the key.
    pub async fn me(&self) -> Result<Session, ClientError> {
        self.call(Method::GET, "/auth/me", None::<&()>).await
    }
}
