//! The way in to what a command serves.

use std::time::Duration;

use godel_model::{Report as _, code};
use godel_runtime::{Command, Process, Profile};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{WALLED, World};

/// Answers each connection with what it was asked and what its input is.
const SERVER: &str = r#"
use IO::Socket::INET;
my $typed = <STDIN>;
my $door = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ENV{PORT}, Listen => 5,
    ReuseAddr => 1) or die "no port: $!";
while (my $guest = $door->accept) {
    my $asked = <$guest>;
    $asked =~ s/\s+$//;
    print $guest "heard <$asked>, typed <" . ($typed // "nothing") . ">\n";
    close $guest;
}
"#;

async fn serve(world: &World, profile: Profile, bead: &str, port: u16) -> Process {
    let at = world.spawn(bead, profile).await.id;
    let command = Command::new("perl").args(["-e", SERVER]).env("PORT", port.to_string());
    world.runtime().exec(at, &command.serving(port)).await.unwrap()
}

/// Waits until the program answers, then asks it something from outside.
async fn ask(process: &Process, question: &str) -> String {
    let inlet = process.inlet.clone().unwrap();
    for _ in 0..600 {
        if inlet.answers().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = door.local_addr().unwrap();
    let lead = async {
        let (mut outside, _) = door.accept().await.unwrap();
        inlet.lead_in(&mut outside).await.unwrap();
    };
    let ask = async {
        let mut guest = TcpStream::connect(address).await.unwrap();
        guest.write_all(format!("{question}\n").as_bytes()).await.unwrap();
        let mut heard = String::new();
        guest.read_to_string(&mut heard).await.unwrap();
        heard
    };
    tokio::join!(ask, lead).0
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_from_outside_is_led_to_the_port_that_is_served_inside() {
    let world = World::new();
    for (number, profile) in WALLED.into_iter().enumerate() {
        let process = serve(&world, profile, &format!("in-{number}"), 8123).await;
        // The same port, in three networks of their own at once.
        assert_eq!(ask(&process, "who is there").await, "heard <who is there>, typed <nothing>\n");
        process.kill(Duration::ZERO).await.unwrap();
        process.wait().await.unwrap();
        assert!(!process.inlet.clone().unwrap().answers().await, "nobody is there any more");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_walls_the_port_is_that_of_the_machine() {
    let world = World::new();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let process = serve(&world, Profile::None, "bare", free).await;
    assert_eq!(ask(&process, "and here").await, "heard <and here>, typed <nothing>\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_in_is_no_way_out() {
    let world = World::new();
    let outside = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let at = world.spawn("out", Profile::Workspace).await.id;
    // Neither the program nor what it starts has the socket, or reaches the network of the machine.
    let script = format!(
        "ls -l /proc/self/fd | grep -c socket; perl -MIO::Socket::INET -e \
         'exit(IO::Socket::INET->new(PeerAddr => \"{outside}\") ? 0 : 9)'; echo $?"
    );
    let mut process =
        world.runtime().exec(at, &Command::shell(script).serving(8124)).await.unwrap();
    let mut out = String::new();
    process.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
    assert_eq!(out, "0\n9\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_served_is_refused() {
    let world = World::new();
    let at = world.spawn("bad", Profile::Workspace).await.id;
    for command in
        [Command::shell("true").serving(0), Command::shell("true").with_stdin().serving(8125)]
    {
        let refused = world.runtime().exec(at, &command).await.unwrap_err();
        assert_eq!(refused.code(), code::INVALID_FIELD);
    }
    let Some(contained) = World::contained() else { return };
    let at = contained.spawn("box", Profile::Workspace).await.id;
    let refused =
        contained.runtime().exec(at, &Command::shell("true").serving(8126)).await.unwrap_err();
    assert_eq!(refused.code(), code::SANDBOX_UNAVAILABLE);
}
