package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"quarry/internal/api"
	"quarry/internal/identity/authz"
)

// checkFacts refuses operations for which the contract does not state what the chain needs to know, or states what
// cannot be.
func checkFacts(all []api.Operation) error {
	var errs []error
	for i := range all {
		op := &all[i]
		for _, check := range []func(*api.Operation) error{checkRoles, checkRecording, checkCorpora, checkErrors, checkUpload} {
			if err := check(op); err != nil {
				errs = append(errs, fmt.Errorf("operation %s %w", op.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

// checkRoles refuses an operation on which nothing decides, neither public nor open to callers nor with a role, or more
// than one of them, or with a role that does not exist and so would open it to nobody.
func checkRoles(op *api.Operation) error {
	deciding := 0
	for _, by := range []bool{op.Public, op.OpenTo != "", len(op.APIRoles)+len(op.CorpusRoles)+len(op.AgentRoles) > 0} {
		if by {
			deciding++
		}
	}
	if deciding != 1 {
		return errors.New("must be public, or state in x-open-to who needs no role, or name the roles that may use it")
	}
	if !slices.Contains([]api.Openness{"", api.OpenToCallers, api.OpenToPeople}, op.OpenTo) {
		return fmt.Errorf("has x-open-to %q, want callers or people", op.OpenTo)
	}
	for _, l := range []struct{ have, known []string }{
		{op.APIRoles, authz.APIRoles()}, {op.CorpusRoles, authz.CorpusRoles()}, {op.AgentRoles, authz.AgentRoles()},
	} {
		for _, role := range l.have {
			if !slices.Contains(l.known, role) {
				return fmt.Errorf("names the role %q, which does not exist", role)
			}
		}
	}
	return nil
}

// checkRecording holds x-audit to the kind of operation: those that read are not recorded, and what anyone may call is
// recorded at a bounded rate, or the audit could be filled by strangers.
func checkRecording(op *api.Operation) error {
	allowed := []api.Recording{api.RecordNever, api.RecordAlways, api.RecordContent}
	switch {
	case op.Method == http.MethodGet:
		allowed = []api.Recording{""}
	case op.Public:
		allowed = []api.Recording{api.RecordAttempts, api.RecordFailures}
	}
	if !slices.Contains(allowed, op.Audit) {
		return fmt.Errorf("has x-audit %q, want one of %q", op.Audit, allowed)
	}
	return nil
}

// checkCorpora refuses an operation for roles on corpora that does not state where a request names its corpora.
func checkCorpora(op *api.Operation) error {
	if len(op.CorpusRoles) > 0 && namesCorpus(op) == (op.NamesCorpora != "") {
		return errors.New("must name its corpora either in the path or where x-names-corpora says")
	}
	return nil
}

// checkErrors refuses an operation whose errors the contract leaves open: whether a 504 names a job, which operations
// that answer 202 state, and whether OAuth libraries read them, which those that take forms state.
func checkErrors(op *api.Operation) error {
	switch {
	case op.NamesJob == api.Unstated && slices.Contains(op.Statuses, http.StatusAccepted):
		return errors.New("answers 202 and must state x-names-job")
	case op.OAuthErrors == api.Unstated && op.Body.Form != "":
		return errors.New("takes a form and must state x-oauth-errors")
	}
	return nil
}

// checkUpload refuses an operation that takes files and does not state which setting bounds them.
func checkUpload(op *api.Operation) error {
	if _, known := uploads[op.Upload]; known != (op.Body.Multipart != "") {
		return fmt.Errorf("has x-upload %q, want that of a form with files: max_upload or max_artifact", op.Upload)
	}
	return nil
}

// namesCorpus reports whether the path of an operation names a corpus.
func namesCorpus(op *api.Operation) bool { return strings.Contains(op.Path, "{corpus_key}") }
