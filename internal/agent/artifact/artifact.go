// Package artifact keeps the files of sessions: those that clients upload and those that tools make. Their bytes are kept by
// package blob; what is kept of a file beside them is a row of its session, written in the transaction of the event that names
// the file. Workspace is what a call of a tool sees of the files of its session.
package artifact

import (
	"context"
	"encoding/json"
	"time"

	"quarry/internal/blob"
	"quarry/internal/page"
)

// Artifact is a file of a session.
type Artifact struct {
	ID          string // art_…, which no other file of the session has
	Filename    string // without a path; see Clean
	MIME        string
	Size        int64           // in bytes
	Sum         string          // SHA-256 in lower-case hex
	Description string          // "" for none
	Metadata    json.RawMessage // an object; nil: {}
	TTLDays     int             // removed after so many days, or with its session
	Created     time.Time       // microseconds, UTC, like Updated
	Updated     time.Time
}

// DefaultTTL is Artifact.TTLDays of files of which nothing else is said.
const DefaultTTL = 30

// Blob names the bytes.
func (a *Artifact) Blob() blob.Blob { return blob.Blob{Sum: a.Sum, Size: a.Size} }

// Expires returns when the file is removed.
func (a *Artifact) Expires() time.Time { return a.Created.AddDate(0, 0, a.TTLDays) }

// Place returns the place of a in a list by age, or by its last change.
func (a *Artifact) Place(byChange bool) *page.Position {
	if byChange {
		return page.At(a.Updated, a.ID)
	}
	return page.At(a.Created, a.ID)
}

// New is a file that is to be made.
type New struct {
	Filename    string // as it was given; see Clean
	MIME        string // as it was given; see TypeOf
	Description string
	Metadata    json.RawMessage // an object; nil: {}
	TTLDays     int             // 0: DefaultTTL
}

// List selects the files of a session.
type List struct {
	Session  int64
	ByChange bool           // by Updated, not by Created
	Oldest   bool           // first
	After    *page.Position // the last one shown, nil for the first page
	Limit    int
}

// Store keeps what is kept of files beside their bytes. Rows are written by session.Log, with the events that name them.
type Store interface {
	// Artifacts returns up to l.Limit files and whether more follow.
	Artifacts(ctx context.Context, l List) (found []Artifact, more bool, err error)
	// Artifact returns a file of a session; fault.KindNotFound "artifact_not_found" if there is none.
	Artifact(ctx context.Context, session int64, id string) (Artifact, error)
	// Expire removes up to limit files whose time has passed, and returns their number.
	Expire(ctx context.Context, now time.Time, limit int) (removed int, err error)
}
