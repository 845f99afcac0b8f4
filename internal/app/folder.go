package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"quarry/internal/filelock"
)

// Names of the files in a data folder, besides the database and the index folder.
const (
	lockFile    = "quarry.lock"
	keyFile     = "owner.key"
	secretFile  = "secret.key"
	addressFile = "address"
	indexFolder = "index"

	certificateFile = "address.pem" // the certificate that the service shows there
)

// HeldError is returned when another server holds the data folder.
type HeldError struct {
	Dir string
	PID int // process id of that server; 0 when unknown
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another server holds the data folder %s; stop it, or choose another folder with --data", e.Dir)
	}
	return fmt.Sprintf("the server with process id %d holds the data folder %s; stop it, or choose another folder with --data", e.PID, e.Dir)
}

// FolderError is returned when the data folder can't be used as it is.
type FolderError struct {
	Dir  string
	Text string // what is wrong and what to do
	err  error
}

func (e *FolderError) Error() string { return e.Text }
func (e *FolderError) Unwrap() error { return e.err }

// folderError returns err, met while using dir, with a text for the user.
func folderError(dir string, err error) error {
	text := fmt.Sprintf("the data folder %s can't be used: %v", dir, err)
	switch {
	case isFull(err):
		text = fmt.Sprintf("the data folder %s is full: free some space and start again", dir)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		text = fmt.Sprintf("the data folder %s can't be written: mount it writable, give this user write access, or choose another with --data", dir)
	case errors.Is(err, syscall.ENOTDIR):
		text = fmt.Sprintf("%s is not a folder: choose another with --data", dir)
	}
	return &FolderError{dir, text, err}
}

// folder is a data folder that this process holds.
type folder struct {
	dir  string
	lock *os.File
}

// openFolder creates the folder if need be, locks it and checks that it can be written.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, folderError(dir, err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, folderError(dir, err)
	}
	if err := filelock.Take(lock); err != nil {
		raw, _ := os.ReadFile(lock.Name()) // what it says only improves the message
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
		_ = lock.Close()
		return nil, &HeldError{dir, pid}
	}
	f := &folder{dir, lock}
	if err := f.stamp(); err != nil {
		_ = lock.Close()
		return nil, folderError(dir, err)
	}
	return f, nil
}

// stamp writes the process id into the lock file. A full disk leaves it out: it only improves a message.
func (f *folder) stamp() error {
	if err := f.lock.Truncate(0); err != nil {
		return err
	}
	if _, err := f.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); !isFull(err) {
		return err
	}
	return nil
}

// isFull reports whether err means that a disk is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// close releases the folder. The lock file stays: removing it would race with the next holder.
func (f *folder) close() error {
	return errors.Join(removeIfThere(f.path(addressFile)), removeIfThere(f.path(certificateFile)), filelock.Release(f.lock), f.lock.Close())
}

// writeSynced writes a file that only this user can read. When it returns nil, the file is on disk.
func writeSynced(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600) // a file that existed would keep its mode
	if err == nil {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Sync(), f.Close())
}
