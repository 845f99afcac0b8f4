//go:build !linux && !darwin

package source

import "io/fs"

// identity returns "": this system does not say which file it is.
func identity(fs.FileInfo) string { return "" }
