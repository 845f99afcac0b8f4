package registry

import (
	"fmt"
	"time"

	"quarry/internal/id"
)

// Embedded is the name of the model that is inside: it answers by quoting.
const Embedded = "extractive-1.0"

// DefaultAliases are the names of models that published clients send without having registered them (contract: agents,
// section 2.3): well-known ones, and those of the platform.
var DefaultAliases = []string{"gpt-4o", "gpt-4o-mini", "mockingbird-2.0", "mockingbird-1.0-2024-07-16"}

// embeddedContext is the most that the embedded model reads, in tokens: its work grows with what it is given.
const embeddedContext = 262_144

const embeddedText = "The built-in extractive generator, which needs no external model: it quotes the sentences of the passages found " +
	"that answer the question best, each with its source, and does not write text of its own."

// platform returns the models that are there without being registered. They stand last in lists, the embedded one first
// among them: their times are the first microseconds of 1970.
func platform(aliases []string) []LLM {
	yes, context := true, embeddedContext
	first := LLM{
		ID: "llm_" + Embedded, Name: Embedded, Description: embeddedText, Enabled: true, Platform: true,
		Type: OpenAI, Model: Embedded,
		Capabilities: Capabilities{ToolCalling: &yes, StructuredOutputs: &yes, ContextLimit: &context},
	}
	all := []LLM{first}
	for _, name := range aliases {
		if _, ok := byName(all, name); ok {
			continue
		}
		all = append(all, LLM{ID: id.LLM("llm_alias_" + name), Name: name, Enabled: true, Platform: true, Type: OpenAI})
	}
	for i := range all {
		all[i].Created = time.UnixMicro(int64(len(all) - i)).UTC()
	}
	return all
}

// describeAlias returns a platform model as clients see it: an alias with the abilities of the model that answers for it.
func (s *Service) describeAlias(l LLM, preferred LLM) LLM {
	if l.Name == Embedded {
		return l
	}
	l.Description = fmt.Sprintf("An alias: calls of %s are answered by %s, the default language model. Register a model of this name to take its place.",
		l.Name, preferred.Name)
	can := preferred.Can()
	l.Type, l.Model = preferred.Type, preferred.Model
	l.Capabilities = Capabilities{
		ImageSupport: &can.Images, ContextLimit: &can.Context, ToolCalling: &can.Tools, StructuredOutputs: &can.Structured,
		RequiresRoleAlternation: &can.Alternation,
	}
	return l
}
