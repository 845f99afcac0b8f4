package index

import "quarry/internal/index/manifest"

// Discard closes the index without saving it, and removes its files. Folders beside them and files of a newer program stay.
// Searches on snapshots that are held go on.
func (x *Index) Discard() error {
	x.Halt()
	x.shut()
	if x.cfg.Dir == "" {
		return nil
	}
	return manifest.Remove(x.cfg.Files, x.cfg.Dir)
}
