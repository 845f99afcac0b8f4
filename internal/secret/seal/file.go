package seal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// File is the key file of an installation: keys one per line, newest first, readable by its owner alone.
type File struct{ path string }

// NewFile returns the key file with this path, which need not exist.
func NewFile(path string) *File { return &File{path} }

// maxFile is how many bytes are read of a key file at most.
const maxFile = 64 << 10

const fileHead = "# Secret keys of this service, newest first. Whoever has them can read the sealed values of its database;\n" +
	"# without them nobody can. Back them up apart from the data. Rotate with: quarry secret rotate\n"

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Read returns the keys, newest first. Its errors include advice; that of a missing file wraps fs.ErrNotExist.
func (f *File) Read() ([]Key, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("read the key file: %w; make it the property of the user that runs the service", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the key file %s is not a regular file; put the file with the keys there", f.path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the key file %s can be used by others than its owner (mode %04o); run: chmod 600 %s", f.path, mode, f.path)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	keys, err := ParseKeys(string(raw))
	if err != nil {
		return nil, fmt.Errorf("the key file %s can't be used: %w; restore it from its backup", f.path, err)
	}
	return keys, nil
}

// Write replaces the keys, and returns when the new ones are durable. A crash leaves the old file or the new one.
func (f *File) Write(keys []Key) error {
	if err := checkKeys(keys); err != nil {
		return err
	}
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays a link
	}
	var text strings.Builder
	text.WriteString(fileHead)
	for _, k := range keys {
		text.WriteString(k.Text() + "\n")
	}
	if err := replace(path, text.String()); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	return nil
}

// replace writes the text to a new file beside path, syncs it and renames it to path.
func replace(path, text string) error {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) { // a crash left it, with whatever mode
		return err
	}
	out, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.WriteString(text)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := os.Rename(fresh, path); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // where the platform can sync a folder
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// Remove removes the file; it is no error if it does not exist.
func (f *File) Remove() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the key file: %w", err)
	}
	return nil
}
