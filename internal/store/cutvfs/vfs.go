// Package cutvfs is a file layer under SQLite for tests. It forwards to the file system of the platform and logs everything
// that matters in a power cut: writes, syncs, and names created and deleted. From the log it builds the folder that a cut
// at any point could have left. It can also make writes fail.
package cutvfs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Kind is what an operation did.
type Kind uint8

// The kinds of operations.
const (
	Create     Kind = iota // a name appeared in the folder
	Write                  // Data at Offset
	Truncate               // to the size Offset
	Sync                   // of one file's content
	Delete                 // a name went
	SyncFolder             // of the names
	Mark                   // a note of the test, see VFS.Mark
)

// Op is one operation that has succeeded. File is a name without its folder.
type Op struct {
	Kind   Kind
	File   string
	Offset int64
	Data   []byte
	Note   any
}

// The results that Fail may choose, as SQLite numbers them.
const (
	Full    = int32(sqlite3.SQLITE_FULL)
	IOError = int32(sqlite3.SQLITE_IOERR_WRITE)
	NoSync  = int32(sqlite3.SQLITE_IOERR_FSYNC)
)

// VFS is one registered layer. It is safe for concurrent use.
type VFS struct {
	name     string
	original uintptr // *Tsqlite3_vfs of the platform
	funcs    []any   // Go functions that C structures point at, kept from the collector

	mu    sync.Mutex
	log   []Op
	files map[uintptr]string              // open file → its name
	ours  map[uintptr]uintptr             // the platform's method table → our copy of it
	fail  func(kind Kind, f string) int32 // guarded by mu, like all of these
}

// methods are the platform's functions behind one method table.
type methods struct {
	write    func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	truncate func(*libc.TLS, uintptr, int64) int32
	sync     func(*libc.TLS, uintptr, int32) int32
	close    func(*libc.TLS, uintptr) int32
}

var registered atomic.Int64

// Register adds a layer to SQLite under a fresh name. It cannot be removed, as SQLite keeps pointers into it.
func Register() (*VFS, error) {
	v := &VFS{
		name:  fmt.Sprintf("cut%d", registered.Add(1)),
		files: map[uintptr]string{}, ours: map[uintptr]uintptr{},
	}
	tls := libc.NewTLS()
	defer tls.Close()
	if v.original = sqlite3.Xsqlite3_vfs_find(tls, 0); v.original == 0 {
		return nil, fmt.Errorf("sqlite has no default file layer")
	}
	name, err := libc.CString(v.name)
	if err != nil {
		return nil, fmt.Errorf("allocate name: %w", err)
	}
	layer := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if layer == 0 {
		return nil, fmt.Errorf("allocate file layer: out of memory")
	}
	t := at[sqlite3.Tsqlite3_vfs](layer)
	*t = *at[sqlite3.Tsqlite3_vfs](v.original)
	t.FzName, t.FpNext = name, 0
	t.FxOpen = pointer(v, v.open)
	t.FxDelete = pointer(v, v.delete)
	if err := v.watchFolder(tls); err != nil {
		return nil, err
	}
	if rc := sqlite3.Xsqlite3_vfs_register(tls, layer, 0); rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("register file layer: code %d", rc)
	}
	return v, nil
}

// Name returns the name by which a database is opened through the layer.
func (v *VFS) Name() string { return v.name }

// Mark appends a note to the log.
func (v *VFS) Mark(note any) { v.record(Op{Kind: Mark, Note: note}) }

// Log returns the log so far; the caller must not modify it.
func (v *VFS) Log() []Op {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.log[:len(v.log):len(v.log)]
}

// Fail sets a function that is called before each Write, Truncate and Sync: when its result is not 0, the operation is not
// done and SQLite gets the result. nil removes it.
func (v *VFS) Fail(fn func(kind Kind, file string) int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fail = fn
}

func (v *VFS) record(op Op) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log = append(v.log, op)
}

// refused asks Fail's function; a file without a name is a temporary one and none of our business.
func (v *VFS) refused(kind Kind, file uintptr) (name string, code int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	name = v.files[file]
	if v.fail == nil || name == "" {
		return name, 0
	}
	return name, v.fail(kind, name)
}

func (v *VFS) open(tls *libc.TLS, _, path, file uintptr, flags int32, outFlags uintptr) int32 {
	platform := at[sqlite3.Tsqlite3_vfs](v.original)
	isNew := path != 0 && flags&sqlite3.SQLITE_OPEN_CREATE != 0 && !exists(libc.GoString(path))
	rc := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](platform.FxOpen)(tls, v.original, path, file, flags, outFlags)
	table := &at[sqlite3.Tsqlite3_file](file).FpMethods
	if rc != sqlite3.SQLITE_OK || *table == 0 || path == 0 || flags&sqlite3.SQLITE_OPEN_DELETEONCLOSE != 0 {
		return rc
	}
	name := filepath.Base(libc.GoString(path))
	v.mu.Lock()
	defer v.mu.Unlock()
	if *table = v.wrap(tls, *table); *table == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	v.files[file] = name
	if isNew {
		v.log = append(v.log, Op{Kind: Create, File: name})
	}
	return rc
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// wrap returns our copy of a method table of the platform; the caller holds mu. Shared memory and locks stay the
// platform's: a power cut leaves neither.
func (v *VFS) wrap(tls *libc.TLS, table uintptr) uintptr {
	if ours, ok := v.ours[table]; ok {
		return ours
	}
	ours := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if ours == 0 {
		return 0
	}
	t := at[sqlite3.Tsqlite3_io_methods](ours)
	*t = *at[sqlite3.Tsqlite3_io_methods](table)
	m := &methods{
		write:    function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](t.FxWrite),
		truncate: function[func(*libc.TLS, uintptr, int64) int32](t.FxTruncate),
		sync:     function[func(*libc.TLS, uintptr, int32) int32](t.FxSync),
		close:    function[func(*libc.TLS, uintptr) int32](t.FxClose),
	}
	t.FxWrite = pointer(v, func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
		return v.do(Op{Kind: Write, Offset: offset, Data: bytes.Clone(unsafe.Slice(at[byte](data), n))}, file,
			func() int32 { return m.write(tls, file, data, n, offset) })
	})
	t.FxTruncate = pointer(v, func(tls *libc.TLS, file uintptr, size int64) int32 {
		return v.do(Op{Kind: Truncate, Offset: size}, file, func() int32 { return m.truncate(tls, file, size) })
	})
	t.FxSync = pointer(v, func(tls *libc.TLS, file uintptr, flags int32) int32 {
		return v.do(Op{Kind: Sync}, file, func() int32 { return m.sync(tls, file, flags) })
	})
	t.FxClose = pointer(v, func(tls *libc.TLS, file uintptr) int32 {
		v.mu.Lock()
		delete(v.files, file)
		v.mu.Unlock()
		return m.close(tls, file)
	})
	v.ours[table] = ours
	return ours
}

// do forwards one operation and logs it when it has succeeded.
func (v *VFS) do(op Op, file uintptr, forward func() int32) int32 {
	name, code := v.refused(op.Kind, file)
	if code != 0 {
		return code
	}
	rc := forward()
	if rc == sqlite3.SQLITE_OK && name != "" {
		op.File = name
		v.record(op)
	}
	return rc
}

// delete logs first, so that the sync of the folder which may belong to it comes after; a name that wasn't there is
// no harm in the log.
func (v *VFS) delete(tls *libc.TLS, _, path uintptr, syncFolder int32) int32 {
	platform := at[sqlite3.Tsqlite3_vfs](v.original)
	v.record(Op{Kind: Delete, File: filepath.Base(libc.GoString(path))})
	return function[func(*libc.TLS, uintptr, uintptr, int32) int32](platform.FxDelete)(tls, v.original, path, syncFolder)
}

// watchers are the layers that log folder syncs; SQLite has one table of system calls for all layers.
var watchers struct {
	sync.Mutex
	all  []*VFS
	call func(*libc.TLS, uintptr, uintptr) int32
}

// watchFolder hooks the call with which SQLite opens a folder to sync it, so that the log records what SQLite does rather
// than what we believe it does. The layers of one program share the hook: all of them log a sync of any folder, so a test
// that cuts must not run beside one that writes through another layer.
func (v *VFS) watchFolder(tls *libc.TLS) error {
	watchers.Lock()
	defer watchers.Unlock()
	watchers.all = append(watchers.all, v)
	if watchers.call != nil {
		return nil
	}
	platform := at[sqlite3.Tsqlite3_vfs](v.original)
	name, err := libc.CString("openDirectory")
	if err != nil {
		return fmt.Errorf("allocate name: %w", err)
	}
	was := function[func(*libc.TLS, uintptr, uintptr) uintptr](platform.FxGetSystemCall)(tls, v.original, name)
	if was == 0 {
		return fmt.Errorf("sqlite opens no folders here")
	}
	watchers.call = function[func(*libc.TLS, uintptr, uintptr) int32](was)
	hook := pointer(v, func(tls *libc.TLS, path, fd uintptr) int32 {
		rc := watchers.call(tls, path, fd)
		if rc == sqlite3.SQLITE_OK {
			watchers.Lock()
			defer watchers.Unlock()
			for _, w := range watchers.all {
				w.record(Op{Kind: SyncFolder})
			}
		}
		return rc
	})
	rc := function[func(*libc.TLS, uintptr, uintptr, uintptr) int32](platform.FxSetSystemCall)(tls, v.original, name, hook)
	if rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("watch folder syncs: code %d", rc)
	}
	return nil
}

// at views memory of SQLite's at an address as a T.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function returns the Go function behind a C function pointer of the translated SQLite: the address of a Go closure.
func function[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) }

// pointer is the reverse of function; v keeps fn alive.
func pointer[F any](v *VFS, fn F) uintptr {
	v.funcs = append(v.funcs, fn)
	return *(*uintptr)(unsafe.Pointer(&fn))
}
