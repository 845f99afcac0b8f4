package bulk

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
)

// Chosen is a deletion whose documents were chosen before it began.
type Chosen struct {
	Begun
	IDs []string // of the documents, each once
}

// chooseStep is how many documents are read at a time while some of them are chosen.
const chooseStep = 500

// Resume returns the deletion that a job does, if there is such a job.
func (s *Service) Resume(ctx context.Context, which id.Job) (d Chosen, ok bool, err error) {
	j, err := s.cfg.Jobs.Get(ctx, "", which)
	switch {
	case fault.Is(err, fault.KindNotFound):
		return Chosen{}, false, nil
	case err != nil:
		return Chosen{}, false, err
	}
	var in input
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return Chosen{}, false, fmt.Errorf("read input of job %s: %w", j.ID, err)
	}
	return Chosen{Begun{Job: j.ID, Began: in.Began}, in.IDs}, true, nil
}

// DeleteChosen enqueues the deletion of the documents that have one of the ids and pass the filter, either of which may be left out,
// as the job `which`. They are chosen here, and more than most are refused. What no longer is as it was chosen by the filter stays.
// Without documents there is no job, and Begun.Job is "".
func (s *Service) DeleteChosen(ctx context.Context, which id.Job, sel Selection, most int) (Chosen, error) {
	in, c, err := s.prepare(ctx, sel)
	if err != nil {
		return Chosen{}, err
	}
	if in.IDs == nil {
		err = s.chooseMatching(ctx, c, &in, most)
	} else {
		err = s.chooseNamed(ctx, c, &in, sel.Filter)
	}
	switch {
	case err != nil:
		return Chosen{}, err
	case len(in.IDs) > most:
		return Chosen{}, fault.InvalidField("metadata_filter", "selects more than %s documents, which is the most at once; nothing was deleted", groupDigits(int64(most)))
	case len(in.IDs) == 0:
		return Chosen{}, nil
	}
	in.Filter = "" // it may hold a secret, and has chosen
	sel.job = which
	begun, err := s.begin(ctx, job.BulkDeleteDocuments, sel, in)
	if err != nil {
		if d, ok, unread := s.Resume(ctx, which); ok && unread == nil { // another process was faster
			return d, nil
		}
	}
	return Chosen{begun, in.IDs}, err
}

// chooseMatching sets the documents that pass the filter, more than most of them if there are.
func (s *Service) chooseMatching(ctx context.Context, c corpus.Corpus, in *input, most int) error {
	for after := ""; ; {
		found, next, err := s.cfg.Documents.Select(ctx, c, document.Selection{Filter: in.Filter, After: after, Limit: chooseStep})
		if err != nil {
			return err
		}
		for i := range found {
			in.IDs, in.Nos = append(in.IDs, found[i].ID), append(in.Nos, found[i].No)
		}
		if after = next; after == "" || len(in.IDs) > most {
			return nil
		}
	}
}

// chooseNamed leaves of the ids those of documents that are there and pass the filter.
func (s *Service) chooseNamed(ctx context.Context, c corpus.Corpus, in *input, filter string) error {
	passes, err := document.Matcher(c, filter)
	if err != nil {
		return err
	}
	ids := in.IDs
	in.IDs = nil
	for _, one := range ids {
		if !document.Possible(one) {
			continue
		}
		d, err := s.cfg.Store.Get(ctx, c.No, one, false)
		if fault.Is(err, fault.KindNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		ok, err := passes(d)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if in.IDs = append(in.IDs, one); filter != "" {
			in.Nos = append(in.Nos, d.No)
		}
	}
	return nil
}

// Left returns those of the documents that are there.
func (s *Service) Left(ctx context.Context, corpusKey string, ids []string) (left []string, err error) {
	c, err := corpus.Find(ctx, s.cfg.Corpora, corpusKey)
	if err != nil {
		return nil, err
	}
	for _, one := range ids {
		switch _, err := s.cfg.Store.Get(ctx, c.No, one, false); {
		case err == nil:
			left = append(left, one)
		case !fault.Is(err, fault.KindNotFound):
			return nil, err
		}
	}
	return left, nil
}
