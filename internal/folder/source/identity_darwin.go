package source

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity returns which file it is and when anything of it was changed, or "".
func identity(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d", s.Dev, s.Ino, s.Ctimespec.Nano())
}
