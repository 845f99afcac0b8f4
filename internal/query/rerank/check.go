package rerank

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/expr/userfn"
	"quarry/internal/fault"
)

// Names and ids of the rerankers (contract: rerankers.md section 3).
const (
	DefaultName = "Rerank_Multilingual_v1"
	defaultID   = "rnk_272725719"
	mmrID       = "rnk_272725718"
)

var customerNames = []string{DefaultName, "rerank-default", "qwen3-reranker", "rerank-instruct"}

// Bounds of a reranker.
const (
	maxStages = 50
	maxNested = 50 // chains inside one another
)

// Spec is a reranker as requested. Type "" is the default.
type Spec struct {
	Type          string
	Name, ID      string // customer_reranker
	Limit         int    // 0 = all
	Cutoff        *float64
	DiversityBias *float64 // mmr
	UserFunction  string   // userfn
	Rerankers     []Spec   // chain
}

// Check returns the stages of spec. An invalid spec is fault.KindInvalid with field paths relative to it.
func Check(spec Spec) (Pipeline, error) {
	c := checker{fault: fault.Invalid()}
	c.add(spec, "", 0)
	if len(c.fault.Fields) > 0 {
		return Pipeline{}, c.fault
	}
	return Pipeline{c.stages}, nil
}

type checker struct {
	fault  *fault.Fault
	stages []Stage
}

func (c *checker) add(spec Spec, path string, nested int) {
	s := Stage{Type: spec.Type, limit: spec.Limit, cutoff: spec.Cutoff}
	if spec.Limit < 0 {
		c.fault.Field(fault.Join(path, "limit"), "must be at least 1")
	}
	switch spec.Type {
	case "none":
		s.cutoff = nil
	case "", "customer_reranker":
		s.Type, s.scorer = "customer_reranker", customer{}
		c.customer(spec, path)
	case "mmr":
		s.scorer = mmr{c.bias(spec, path)}
	case "userfn":
		s.scorer = c.custom(spec, path)
	case "chain":
		c.chain(spec, path, nested)
		return
	default:
		c.fault.Field(fault.Join(path, "type"), "no reranker type is named %q", spec.Type)
	}
	if c.stages = append(c.stages, s); len(c.stages) == maxStages+1 {
		c.fault.Field("", "has more than %d stages", maxStages)
	}
}

// chain adds the stages of a chain, whose own limit and cutoff have no effect.
func (c *checker) chain(spec Spec, path string, nested int) {
	switch {
	case len(spec.Rerankers) == 0:
		c.fault.Field(fault.Join(path, "rerankers"), "must have at least one stage")
	case nested == maxNested:
		c.fault.Field("", "has more than %d chains inside one another", maxNested)
	default:
		for i, r := range spec.Rerankers {
			if len(c.stages) > maxStages {
				return
			}
			c.add(r, fault.Join(path, fmt.Sprintf("rerankers[%d]", i)), nested+1)
		}
	}
}

func (c *checker) customer(spec Spec, path string) {
	switch {
	case spec.Name != "":
		if !slices.Contains(customerNames, spec.Name) {
			c.fault.Field(fault.Join(path, "reranker_name"), "no reranker is named %q", spec.Name)
		}
	case spec.ID == mmrID:
		c.fault.Field(fault.Join(path, "reranker_id"), "%s is the MMR reranker: use type mmr", mmrID)
	case spec.ID != "" && spec.ID != defaultID:
		c.fault.Field(fault.Join(path, "reranker_id"), "no reranker has the id %q", spec.ID)
	}
	if v := spec.Cutoff; v != nil && !(*v >= 0 && *v <= 1) {
		c.fault.Field(fault.Join(path, "cutoff"), "must be between 0 and 1")
	}
}

func (c *checker) bias(spec Spec, path string) float64 {
	if spec.DiversityBias == nil {
		return defaultBias
	}
	if b := *spec.DiversityBias; !(b >= 0 && b <= 1) {
		c.fault.Field(fault.Join(path, "diversity_bias"), "must be between 0 and 1")
	}
	return *spec.DiversityBias
}

func (c *checker) custom(spec Spec, path string) scorer {
	if strings.TrimSpace(spec.UserFunction) == "" {
		c.fault.Field(fault.Join(path, "user_function"), "is required")
		return nil
	}
	program, err := userfn.Parse(spec.UserFunction)
	if err != nil {
		c.fault.Field(fault.Join(path, "user_function"), "%v", err)
		return nil
	}
	return custom{program}
}
