//go:build !linux

package segment

import "os"

func advise(*File, []byte, Access) {}

func leaving(*os.File, []byte, int64, int64) (read func()) { return func() {} }
