package reader

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights to files that Landlock knew first, and those that came with its later versions, by version.
const firstRights = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1

var laterRights = []struct {
	version uintptr
	files   uint64
	network uint64
	scoped  uint64
}{
	{version: 2, files: unix.LANDLOCK_ACCESS_FS_REFER},
	{version: 3, files: unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{version: 4, network: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
	{version: 5, files: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
	{version: 6, scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
}

// restrict drops every right that Landlock knows of, in all threads, where the kernel has it and lets it be used: kernels before
// 5.13 and some containers don't.
func restrict() error {
	version, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: firstRights}
	for _, r := range laterRights {
		if version >= r.version {
			rules.Handled_access_fs |= r.files
			rules.Handled_access_net |= r.network
			rules.Scoped |= r.scoped
		}
	}
	fd, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	defer func() { _ = unix.Close(int(fd)) }() // it was of use for the next calls alone
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		if errno == syscall.ENOTSUP { // a build with C, as for the race detector
			return nil
		}
		return os.NewSyscallError("prctl", errno)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}
