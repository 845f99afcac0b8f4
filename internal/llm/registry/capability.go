package registry

import (
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/llm"
)

// Over returns a with what c states in the place of what was inferred.
func (c Capabilities) Over(a llm.Abilities) llm.Abilities {
	for _, s := range []struct {
		stated *bool
		at     *bool
	}{
		{c.ImageSupport, &a.Images}, {c.ToolCalling, &a.Tools}, {c.StructuredOutputs, &a.Structured},
		{c.RequiresRoleAlternation, &a.Alternation},
	} {
		if s.stated != nil {
			*s.at = *s.stated
		}
	}
	if c.ContextLimit != nil {
		a.Context = *c.ContextLimit
	}
	return a
}

// family is a group of models recognized by their names; the first family whose pattern matches counts. Where versions
// differ, it has the smallest context: a prompt shorter than it might be loses a passage, one too long loses its answer.
type family struct {
	name *regexp.Regexp
	can  llm.Abilities
}

func known(pattern string, context int, abilities string) family {
	return family{regexp.MustCompile(`(^|[^a-z0-9])` + pattern), llm.Abilities{
		Images: strings.Contains(abilities, "i"), Tools: strings.Contains(abilities, "t"),
		Structured: strings.Contains(abilities, "s"), Alternation: strings.Contains(abilities, "a"), Context: context,
	}}
}

// families lists what providers publish of their models. i: images, t: tools, s: structured outputs, a: role alternation.
var families = []family{
	known(`gpt-5`, 400_000, "its"), known(`gpt-4\.1`, 1_047_576, "its"), known(`(chat)?gpt-4o`, 128_000, "its"),
	known(`gpt-4-turbo`, 128_000, "it"), known(`gpt-4-32k`, 32_768, "t"), known(`gpt-4`, 8_192, "t"),
	known(`gpt-3\.5`, 16_385, "t"), known(`gpt-oss`, 131_072, "ts"),
	known(`o1-(mini|preview)`, 128_000, ""), known(`o[134]($|-)`, 200_000, "its"),
	known(`claude-(instant|v?1|v?2)`, 100_000, ""), known(`claude`, 200_000, "its"),
	known(`gemini-(1\.0|pro)`, 32_760, "t"), known(`gemini`, 1_048_576, "its"),
	known(`gemma-?3`, 131_072, "ia"), known(`gemma`, 8_192, "a"),
	known(`(meta-?)?llama-?4`, 131_072, "its"), known(`(meta-?)?llama-?3[.-]2.*vision`, 131_072, "i"),
	known(`(meta-?)?llama-?3[.-][123]`, 131_072, "ts"), known(`(meta-?)?llama-?3`, 8_192, "s"), known(`(meta-?)?llama`, 4_096, "a"),
	known(`pixtral`, 131_072, "its"), known(`(mistral-(large|medium|small|nemo)|ministral)`, 131_072, "ts"),
	known(`mixtral`, 32_768, "a"), known(`(co(de)?stral|mistral)`, 32_768, "ta"),
	known(`qwen.*-?vl`, 32_768, "its"), known(`(qwen|qwq)`, 32_768, "ts"),
	known(`deepseek-(r1|reasoner)`, 65_536, "s"), known(`deepseek`, 65_536, "ts"),
	known(`command-(r|a)`, 128_000, "ts"), known(`grok`, 131_072, "its"), known(`granite`, 131_072, "ts"),
	known(`phi-?4`, 16_384, "s"), known(`phi`, 4_096, "a"),
}

// stated matches the context limit in names of open models, such as phi-3-mini-128k-instruct.
var stated = regexp.MustCompile(`[-_](\d{1,4})k($|[-_:])`)

// Infer returns what a model can do, judged by its wire format and its name, such as gpt-4o, models/gemini-2.0-flash or
// us.anthropic.claude-3-5-sonnet-20241022-v2:0.
func Infer(t Type, model string) llm.Abilities {
	name := strings.ToLower(model)
	known, ok := t.find()
	if !ok {
		known = formats[0]
	}
	can := known.unnamed
	for _, f := range families {
		if f.name.MatchString(name) {
			can = f.can
			break
		}
	}
	if m := stated.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1]) // at most four digits
		can.Context = n << 10
	}
	can.Context = max(can.Context, llm.MinContext)
	return can
}
