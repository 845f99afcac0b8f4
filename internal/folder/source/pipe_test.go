//go:build !linux

package source_test

import "errors"

func pipe(string) error { return errors.ErrUnsupported }
