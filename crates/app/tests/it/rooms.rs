//! How many are at work at once in a project, whoever comes and goes and whatever the limit is meanwhile.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use godel_app::{Rooms, Spot};
use godel_model::Mint;

fn look<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => Some(found),
        Poll::Pending => None,
    }
}

#[test]
fn whoever_comes_too_many_waits_until_one_leaves_and_comes_in_its_turn() {
    let (rooms, project) = (Rooms::default(), Mint::system().id());
    let come = || rooms.enter(project, Some(2), 9);
    let first = look(pin!(come())).unwrap();
    let _second = look(pin!(come())).unwrap();
    let (mut third, mut fourth) = (pin!(come()), pin!(come()));
    assert!(look(third.as_mut()).is_none());
    assert!(look(fourth.as_mut()).is_none());
    drop(first);
    assert!(look(fourth.as_mut()).is_none(), "the third came before");
    let third = look(third).unwrap();
    drop(third);
    assert!(look(fourth).is_some());
    let elsewhere = rooms.enter(Mint::system().id(), Some(1), 9);
    assert!(look(pin!(elsewhere)).is_some(), "another project has a room of its own");
}

#[test]
fn a_limit_that_changes_counts_for_those_who_are_in_and_for_those_who_wait() {
    let (rooms, project) = (Rooms::default(), Mint::system().id());
    let inside: Vec<Spot> =
        (0..4).map(|_| look(pin!(rooms.enter(project, None, 9))).unwrap()).collect();
    rooms.allow(project, Some(2));
    let mut next = pin!(rooms.enter(project, Some(2), 9));
    let mut left = inside.into_iter();
    for _ in 0..2 {
        left.next();
        assert!(look(next.as_mut()).is_none(), "there are as many as are allowed");
    }
    rooms.allow(project, Some(3));
    assert!(look(next).is_some());
    drop(left);
    rooms.allow(project, None);
}

#[test]
fn whoever_does_not_wait_any_more_takes_no_place() {
    let (rooms, project) = (Rooms::default(), Mint::system().id());
    let first = look(pin!(rooms.enter(project, Some(1), 9))).unwrap();
    {
        let mut gone = pin!(rooms.enter(project, Some(1), 9));
        assert!(look(gone.as_mut()).is_none());
    }
    let mut second = pin!(rooms.enter(project, Some(1), 9));
    assert!(look(second.as_mut()).is_none());
    drop(first);
    assert!(look(second).is_some());
}
