package cutvfs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Variant is how a power cut treats unsynced writes.
type Variant uint8

// The variants, from a disk with a strict cache to a process that was killed.
const (
	Lost Variant = iota // all of it is gone
	Torn                // each sector of it and each name by chance, in no order
	Kept                // all of it is there: the machine went on
)

func (v Variant) String() string { return [...]string{"lost", "torn", "kept"}[v] }

// sector is what a disk writes whole or not at all.
const sector = 512

// Disk replays a log and holds what a power cut at the present point could leave.
type Disk struct {
	names   map[string]*file // durable names
	changed map[string]*file // names created (or deleted: nil) since the folder was synced
}

type file struct {
	durable []byte
	pending []Op // Write and Truncate since the last Sync
}

// NewDisk returns an empty folder.
func NewDisk() *Disk { return &Disk{names: map[string]*file{}, changed: map[string]*file{}} }

func (d *Disk) find(name string) *file {
	if f, ok := d.changed[name]; ok {
		return f
	}
	return d.names[name]
}

// Apply replays one operation.
func (d *Disk) Apply(op Op) {
	switch op.Kind {
	case Create:
		d.changed[op.File] = &file{}
	case Delete:
		d.changed[op.File] = nil
	case SyncFolder:
		for name, f := range d.changed {
			if d.names[name] = f; f == nil {
				delete(d.names, name)
			}
		}
		clear(d.changed)
	case Write, Truncate, Sync:
		f := d.find(op.File)
		if f == nil {
			panic(fmt.Sprintf("the log writes to %s, which it didn't make", op.File))
		}
		if op.Kind != Sync {
			f.pending = append(f.pending, op)
			return
		}
		for _, p := range f.pending {
			f.durable = apply(f.durable, p, func() bool { return true })
		}
		f.pending = nil
	}
}

// Cut writes into dir what a power cut now would leave.
func (d *Disk) Cut(dir string, v Variant, random *rand.Rand) error {
	survives := func() bool { return v == Kept || v == Torn && random.IntN(2) == 0 }
	present := map[string]*file{}
	for name, f := range d.names {
		present[name] = f
	}
	for name, f := range d.changed {
		if !survives() {
			continue
		}
		if present[name] = f; f == nil {
			delete(present, name)
		}
	}
	for name, f := range present {
		content := append([]byte(nil), f.durable...)
		for _, p := range f.pending {
			content = apply(content, p, survives)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return fmt.Errorf("write image: %w", err)
		}
	}
	return nil
}

// apply returns content after an operation, with those sectors of a write for which survives returns true. A gap between
// the old end and a sector that survived is filled with zeros.
func apply(content []byte, op Op, survives func() bool) []byte {
	if op.Kind == Truncate {
		if !survives() {
			return content
		}
		return grow(content, op.Offset)[:op.Offset]
	}
	for at := op.Offset; at < op.Offset+int64(len(op.Data)); {
		end := min((at/sector+1)*sector, op.Offset+int64(len(op.Data)))
		if survives() {
			content = grow(content, end)
			copy(content[at:end], op.Data[at-op.Offset:])
		}
		at = end
	}
	return content
}

func grow(content []byte, size int64) []byte {
	if more := size - int64(len(content)); more > 0 {
		content = append(content, make([]byte, more)...)
	}
	return content
}
