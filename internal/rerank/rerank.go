// Package rerank rescores and reorders the results of a query, stage by stage. Built today: none, and the default
// reranker, which keeps the order of retrieval and maps scores to 0..1. The stages of the contract's other types
// come with their issue; asking for one is refused as not built.
package rerank

import (
	"cmp"
	"slices"

	"quarry/internal/fault"
)

// Item is one result on its way through the stages. Index names it for the caller.
type Item struct {
	Index int
	Score float64
	// Unit is the retrieval score on the scale of 0..1: its share of the highest score that the weights of its
	// source allow.
	Unit float64
}

// Names and ids of the default reranker (contract: rerankers.md section 3).
const (
	DefaultName = "Rerank_Multilingual_v1"
	defaultID   = "rnk_272725719"
	mmrID       = "rnk_272725718"
)

var customerNames = []string{DefaultName, "rerank-default", "qwen3-reranker", "rerank-instruct"}

// Stage is a checked reranker. The zero value is the default reranker without limit or cutoff.
type Stage struct {
	None   bool
	Limit  int // 0 = all
	Cutoff *float64
}

// Spec is a reranker as asked for; Type "" is the default.
type Spec struct {
	Type     string
	Name, ID string
	Limit    int
	Cutoff   *float64
}

// Check gives the stage for spec, or the fault of the field under path.
func Check(spec Spec, path string) (Stage, error) {
	s := Stage{Limit: spec.Limit, Cutoff: spec.Cutoff}
	switch spec.Type {
	case "none":
		s.None, s.Cutoff = true, nil
	case "", "customer_reranker":
		if err := checkCustomer(spec, path); err != nil {
			return s, err
		}
	case "mmr", "userfn", "chain":
		return s, fault.NotBuilt("the reranker %s is not built yet; use customer_reranker or none", spec.Type)
	default:
		return s, fault.InvalidField(path+".type", "no reranker type is named %q", spec.Type)
	}
	return s, nil
}

func checkCustomer(spec Spec, path string) error {
	f := fault.Invalid()
	switch {
	case spec.Name != "":
		if !slices.Contains(customerNames, spec.Name) {
			f.Field(path+".reranker_name", "no reranker is named %q", spec.Name)
		}
	case spec.ID == mmrID:
		f.Field(path+".reranker_id", "%s is the MMR reranker: use type mmr", mmrID)
	case spec.ID != "" && spec.ID != defaultID:
		f.Field(path+".reranker_id", "no reranker has the id %q", spec.ID)
	}
	if c := spec.Cutoff; c != nil && (*c < 0 || *c > 1) {
		f.Field(path+".cutoff", "must be between 0 and 1")
	}
	if len(f.Fields) > 0 {
		return f
	}
	return nil
}

// Apply runs the stage: score, cut off, sort by the new score (ties keep their order), keep the first Limit.
func (s Stage) Apply(items []Item) []Item {
	if !s.None {
		for i := range items {
			items[i].Score = min(1, max(0, items[i].Unit))
		}
	}
	if s.Cutoff != nil {
		items = slices.DeleteFunc(items, func(x Item) bool { return x.Score < *s.Cutoff })
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(b.Score, a.Score) })
	if s.Limit > 0 && len(items) > s.Limit {
		items = items[:s.Limit]
	}
	return items
}
