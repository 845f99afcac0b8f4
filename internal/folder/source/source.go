// Package source finds what the arguments of `quarry index` mean: the documents in folders, files, archives and lines
// of JSON, what is left out of them and why, and what cannot be read.
//
// It holds names and sizes, never the contents of more than one file: an item is read when its Read is called. Links are not
// followed, so that nothing is read twice or from outside the folder, and a circle of links ends nowhere.
package source

import (
	"context"
	"errors"
	"time"
)

// Form is how an item is sent.
type Form string

// The forms: a file whose bytes the service reads, and a JSON body of createCorpusDocument.
const (
	AsFile Form = "file"
	AsBody Form = "body"
)

// Stamp is what is known of an item without reading it. Two equal stamps of one id mean the same content, unless Settled was
// false when it was read.
type Stamp struct {
	Size     int64
	Modified time.Time // zero for the lines of a file
	// Identity is device, inode and change time of a file where the system has them, and a digest of the content of lines and of
	// members of archives; it is compared, never read.
	Identity string
}

// Item is one document to be.
type Item struct {
	// ID is the document's id: the path inside the folder with slashes, the name of a file, the id inside a body.
	ID string
	// Place is where it stands, as people find it: a path, a path inside an archive, a file with the number of a line.
	Place string
	Form  Form
	Stamp

	read func(ctx context.Context) (Content, error)
}

// Content is an item that was read, with the stamp that belongs to these bytes.
type Content struct {
	Data []byte
	Stamp
	// Settled is false if the file was changed so shortly before it was read that another change could leave size and time as
	// they are: its stamp proves nothing.
	Settled bool
}

// ErrGone is wrapped by the error of Read if the file is there no more.
var ErrGone = errors.New("the file is gone")

// Read returns the content. It may be called from several goroutines, until the Finder is closed. Members of a tar.gz are read
// fastest in the order in which they were found. Its errors are a *Problem, ErrGone or that of ctx.
func (i Item) Read(ctx context.Context) (Content, error) { return i.read(ctx) }

// Cause is the kind of reason for which something is left out.
type Cause string

// The causes.
const (
	CauseFormat   Cause = "format"   // no reader for this ending
	CauseNoBody   Cause = "no body"  // JSON that is no document's body
	CauseNested   Cause = "nested"   // an archive or JSON lines, which have to be named
	CauseHidden   Cause = "hidden"   // a name that begins with a dot
	CauseIgnored  Cause = "ignored"  // by a .quarryignore
	CauseExcluded Cause = "excluded" // by --exclude, or by none of --include
	CauseLink     Cause = "link"
	CauseSpecial  Cause = "special" // a socket, a pipe, a device
	CauseEmpty    Cause = "empty"
)

// LeftOut is a file, or a folder with all that is in it, that is not read on purpose. The place of a folder ends in a slash.
type LeftOut struct {
	Place  string `json:"file"`
	Ending string `json:"ending,omitempty"` // of the file, in lower case with its dot
	Cause  Cause  `json:"cause"`
	Reason string `json:"reason"`
}

// The stages of a problem.
const (
	StageFind = "find"
	StageRead = "read"
)

// Problem is something that should have been read and cannot be.
type Problem struct {
	Place  string `json:"file"`
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
	Advice string `json:"advice"`
	// ID is the document that cannot be read, so that nobody takes it for gone. With Below it is a prefix: documents whose ids
	// begin with it may stand behind this problem; the empty prefix means every document of the root.
	ID    string `json:"-"`
	Below bool   `json:"-"`
}

func (p *Problem) Error() string { return p.Place + ": " + p.Reason }

// Found is what Find met beside the items.
type Found struct {
	Items    int
	LeftOut  []LeftOut
	Problems []Problem
}

// Options are what the user chose.
type Options struct {
	// Include and Exclude are patterns as in a .gitignore, relative to the root. Where there are any in Include, only what one of
	// them names is read; what one names with its dot or its ending is read although it is hidden or has an unknown ending.
	Include, Exclude []string
	// MaxFile and MaxBody are the sizes of the largest file and the largest body, which larger ones are refused by unread. 0 means
	// what the service takes by default.
	MaxFile, MaxBody int64
}
