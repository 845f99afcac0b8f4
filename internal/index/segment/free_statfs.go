//go:build linux || darwin

package segment

import "golang.org/x/sys/unix"

// free returns the bytes that are free for files in dir.
func free(dir string) (bytes int64, ok bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
