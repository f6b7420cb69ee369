//! What is on the forge: one repository and its pull requests.

use crate::git::Bare;

/// Which forge is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// GitHub Enterprise, below `/api/v3`.
    GitHub,
    /// GitLab, below `/api/v4`.
    GitLab,
}

/// How a pull request becomes part of its branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By a merge commit.
    Merge,
    /// As one commit.
    Squash,
    /// Commit by commit.
    Rebase,
}

/// What became of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It waits.
    Open,
    /// The branch has it.
    Merged,
    /// Somebody closed it.
    Closed,
}

/// A pull request of the forge.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    pub(crate) number: u64,
    pub(crate) branch: String,
    pub(crate) base: String,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) standing: Standing,
    /// Fixed when it is over.
    pub(crate) head: Option<String>,
    pub(crate) merged: Option<(String, How)>,
    pub(crate) comments: Vec<String>,
    /// What people said: who, and in GitHub's word.
    pub(crate) reviews: Vec<(u64, &'static str)>,
}

/// What can be wrong with a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum No {
    /// There is no such branch.
    UnknownBranch,
    /// The branch has nothing new.
    Nothing,
    /// One is open for it already.
    Twice,
    /// It is over.
    Over,
    /// It conflicts, or checks are against it.
    Unmergeable,
    /// Its branch is elsewhere.
    HeadMoved,
}

/// The forge's memory.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) git: Bare,
    pub(crate) repo: String,
    pub(crate) pulls: Vec<Pull>,
    /// The checks of every commit: a name, and `pending`, `success` or `failure`.
    pub(crate) checks: Vec<(String, &'static str)>,
}

impl World {
    pub(crate) fn pull(&mut self, number: u64) -> Option<&mut Pull> {
        self.pulls.iter_mut().find(|one| one.number == number)
    }

    /// Returns the last commit of a pull request.
    pub(crate) fn head(&self, pull: &Pull) -> String {
        let head = pull.head.clone().or_else(|| self.git.head(&pull.branch));
        head.unwrap_or_else(|| "0".repeat(40))
    }

    pub(crate) fn is_clean(&self, pull: &Pull) -> bool {
        let Some(base) = self.git.head(&pull.base) else { return false };
        self.git.merged_tree(&base, &self.head(pull)).is_some()
    }

    pub(crate) fn open(
        &mut self,
        (branch, base): (&str, &str),
        title: &str,
        body: &str,
    ) -> Result<u64, No> {
        let head = self.git.head(branch).ok_or(No::UnknownBranch)?;
        let onto = self.git.head(base).ok_or(No::UnknownBranch)?;
        let same = |one: &&Pull| {
            one.branch == branch && one.base == base && one.standing == Standing::Open
        };
        if self.pulls.iter().any(|one| same(&one)) {
            return Err(No::Twice);
        }
        if self.git.ahead(&onto, &head) == 0 {
            return Err(No::Nothing);
        }
        // The numbers are shared with issues, so that they do not begin where one might think.
        let number = self.pulls.len() as u64 + 7;
        self.pulls.push(Pull {
            number,
            branch: branch.to_owned(),
            base: base.to_owned(),
            title: title.to_owned(),
            body: body.to_owned(),
            standing: Standing::Open,
            head: None,
            merged: None,
            comments: Vec::new(),
            reviews: Vec::new(),
        });
        Ok(number)
    }

    pub(crate) fn merge(
        &mut self,
        number: u64,
        (how, sha): (How, Option<&str>),
        words: &str,
    ) -> Result<String, No> {
        let Some(pull) = self.pulls.iter().find(|one| one.number == number).cloned() else {
            return Err(No::UnknownBranch);
        };
        if pull.standing != Standing::Open {
            return Err(No::Over);
        }
        let head = self.head(&pull);
        if sha.is_some_and(|sha| sha != head) {
            return Err(No::HeadMoved);
        }
        if self.checks.iter().any(|(_, state)| *state == "failure") {
            return Err(No::Unmergeable);
        }
        let joined = self.git.join(&pull.base, &head, how, words).ok_or(No::Unmergeable)?;
        if let Some(own) = self.pull(number) {
            (own.standing, own.head) = (Standing::Merged, Some(head));
            own.merged = Some((joined.clone(), how));
        }
        Ok(joined)
    }

    pub(crate) fn close(&mut self, number: u64) {
        let head = self.pulls.iter().find(|one| one.number == number).map(|pull| self.head(pull));
        if let Some(own) = self.pull(number).filter(|own| own.standing == Standing::Open) {
            (own.standing, own.head) = (Standing::Closed, head);
        }
    }
}
