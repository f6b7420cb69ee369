//! Which calls the kernel refuses to an agent.
//!
//! Three filters, and the strictest answer counts. What honest programs try and can do without is
//! answered with an error; what only an attack or a debugger of foreign processes needs ends the
//! process, so that it is seen. Numbers above those that are known here are as if they were not there.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// The highest call that was looked at (`file_setattr`).
const KNOWN_MAX: u32 = 469;
/// Calls with this bit and above are of another table (x32), which no filter by number covers.
const LOAD_NUMBER: u16 = 0x20;
const JUMP_ABOVE: u16 = 0x25;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const TIOCSETD: u64 = 0x5423;

/// Families of sockets that are let through: local ones, the internet's, and questions about routes.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Calls that are refused with "not permitted".
const REFUSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_settimeofday,
    libc::SYS_fanotify_init,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls that end the process: other processes' memory, the kernel itself, files past their paths.
const DEADLY: &[i64] = &[
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_swapoff,
    libc::SYS_swapon,
];

type Outcome<T> = Result<T, seccompiler::BackendError>;

/// Makes the filters of this machine's kind of processor.
pub(super) fn filters() -> Outcome<[BpfProgram; 3]> {
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok([unknown(), refused(machine)?, deadly(machine)?])
}

/// Calls that are newer than this list, of another table, or cannot be looked into are not there.
fn unknown() -> BpfProgram {
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    // The flags of clone3 are in memory, where a filter cannot see them; programs then use clone.
    let clone3 = libc::SYS_clone3 as u32;
    vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_ABOVE, 2, 0, KNOWN_MAX),
        step(JUMP_EQUAL, 1, 0, clone3),
        step(RETURN, 0, 0, ALLOW),
        step(RETURN, 0, 0, missing),
    ]
}

fn refused(machine: TargetArch) -> Outcome<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let spaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let has = |flag: i32| {
        let flag = u64::from(flag.cast_unsigned());
        rule(0, SeccompCmpOp::MaskedEq(flag), flag)
    };
    rules.insert(libc::SYS_clone, spaces.into_iter().map(has).collect::<Outcome<_>>()?);
    let typed = [TIOCSTI, TIOCLINUX, TIOCSETD].map(|what| rule(1, SeccompCmpOp::Eq, what));
    rules.insert(libc::SYS_ioctl, typed.into_iter().collect::<Outcome<_>>()?);
    // Another personality could turn protections off that programs count on.
    let plain = [0, 0xffff_ffff].map(|what| condition(0, SeccompCmpOp::Ne, what));
    let plain = plain.into_iter().collect::<Outcome<_>>()?;
    rules.insert(libc::SYS_personality, vec![SeccompRule::new(plain)?]);
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        let foreign = FAMILIES
            .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())));
        let foreign: Vec<_> = foreign.into_iter().collect::<Outcome<_>>()?;
        // Raw sockets need rights that an agent has not; here is the second door.
        let raw = vec![
            condition(0, SeccompCmpOp::Ne, libc::AF_NETLINK as u64)?,
            condition(1, SeccompCmpOp::MaskedEq(0xf), libc::SOCK_RAW as u64)?,
        ];
        let audit = vec![
            condition(0, SeccompCmpOp::Eq, libc::AF_NETLINK as u64)?,
            condition(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64)?,
        ];
        let all = [foreign, raw, audit].into_iter().map(SeccompRule::new);
        rules.insert(call, all.collect::<Outcome<_>>()?);
    }
    let answer = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, machine)?.try_into()
}

fn deadly(machine: TargetArch) -> Outcome<BpfProgram> {
    let rules = DEADLY.iter().map(|call| (*call, Vec::new())).collect();
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, machine)?.try_into()
}

/// The kernel looks at the lower half of these arguments only, so a filter must not look at more.
fn condition(argument: u8, how: SeccompCmpOp, value: u64) -> Outcome<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}

fn rule(argument: u8, how: SeccompCmpOp, value: u64) -> Outcome<SeccompRule> {
    SeccompRule::new(vec![condition(argument, how, value)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_can_be_made_for_both_kinds_of_processors() {
        for machine in [TargetArch::x86_64, TargetArch::aarch64] {
            assert!(refused(machine).unwrap().len() > REFUSED.len());
            assert!(deadly(machine).unwrap().len() > DEADLY.len());
        }
        assert_eq!(filters().unwrap().len(), 3);
    }

    #[test]
    fn no_call_is_in_two_lists() {
        assert!(REFUSED.iter().all(|call| !DEADLY.contains(call)));
        let known = |call: &&i64| **call <= i64::from(KNOWN_MAX);
        assert_eq!(
            REFUSED.iter().chain(DEADLY).filter(known).count(),
            REFUSED.len() + DEADLY.len()
        );
    }
}
