package enrich

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/expr/jq"
	"quarry/internal/expr/userfn"
	"quarry/internal/fault"
)

// Field is the member of an agent that holds rules; faults name fields in it.
const Field = "enrichment"

// MaxRules is how many rules an agent has at most.
const MaxRules = 20

// rule is a rule, ready to be run.
type rule struct {
	when   *userfn.Condition // nil: it always holds
	tool   string            // name of a tool of the agent
	input  *jq.Program       // makes the arguments of the call; nil: there are none
	output *jq.Program       // makes what is laid over the metadata
}

// The members of a rule.
const (
	conditionField = "condition"
	toolField      = "tool_configuration"
	inputField     = "input_transform"
	outputField    = "output_transform"
)

var members = []string{conditionField, toolField, inputField, outputField}

// variables are what output_transform reads beside the output of the tool.
var variables = []string{"$agent", "$session", "$tools", "$currentDate"}

// parse returns the rules in what an agent has; none for null and what is absent. Faults are under Field.
func parse(raw json.RawMessage) ([]rule, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil, fault.InvalidField(Field, "must be a list of rules, or null for none")
	}
	bad := fault.Invalid()
	if len(all) > MaxRules {
		bad.Field(Field, "has %d rules, more than the %d that are allowed", len(all), MaxRules)
	}
	out := make([]rule, len(all))
	for i, one := range all {
		out[i] = parseOne(one, at(i), bad)
	}
	return out, bad.Err()
}

// at returns the place of a rule.
func at(i int) string { return fmt.Sprintf("%s[%d]", Field, i) }

// parseOne returns a rule and adds to bad what is wrong with it.
func parseOne(raw json.RawMessage, place string, bad *fault.Fault) (r rule) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || given == nil {
		bad.Field(place, "must be an object")
		return r
	}
	texts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var text *string
		switch err := json.Unmarshal(given[name], &text); {
		case !slices.Contains(members, name):
			bad.Field(fault.Join(place, name), "is no member of a rule, which has condition, tool_configuration, input_transform and output_transform")
		case err != nil:
			bad.Field(fault.Join(place, name), "must be a text")
		case text != nil:
			texts[name] = *text
		}
	}
	r.tool = texts[toolField]
	for _, name := range []string{toolField, outputField} {
		if texts[name] == "" {
			bad.Field(fault.Join(place, name), "is required")
		}
	}
	r.when = compiled(texts[conditionField], userfn.ParseCondition, fault.Join(place, conditionField), bad)
	r.input = compiled(texts[inputField], jq.Parse, fault.Join(place, inputField), bad)
	r.output = compiled(texts[outputField], func(text string) (*jq.Program, error) { return jq.ParseWith(text, variables...) }, fault.Join(place, outputField), bad)
	return r
}

// compiled returns what a text means, nil for an empty one.
func compiled[T any](text string, compile func(string) (*T, error), place string, bad *fault.Fault) *T {
	if text == "" {
		return nil
	}
	out, err := compile(text)
	if err != nil {
		bad.Field(place, "%s", err)
	}
	return out
}

// Tools returns the names of the tools that rules call, as far as they can be read.
func Tools(raw json.RawMessage) (names []string) {
	rules, _ := parse(raw)
	for i := range rules {
		names = append(names, rules[i].tool)
	}
	return names
}

// Check adds to bad what is wrong with the rules of an agent that has these tools, each with whether clients run it. removed returns the
// field of the change that has taken a tool away, "" if none has.
func Check(raw json.RawMessage, tools map[string]bool, removed func(tool string) string, bad *fault.Fault) {
	rules, err := parse(raw)
	bad.Gather(err)
	for i := range rules {
		name, place := rules[i].tool, fault.Join(at(i), toolField)
		client, there := tools[name]
		switch {
		case name == "":
		case !there && removed(name) != "":
			bad.Field(removed(name), "can't be removed: the rule %s calls it; change %s, too", at(i), Field)
		case !there:
			bad.Field(place, "unknown tool '%s'", name)
		case client:
			bad.Field(place, "is '%s', a tool of type client, and there is no client to run it while a session is made", name)
		}
	}
}
