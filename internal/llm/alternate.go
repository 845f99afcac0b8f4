package llm

import "slices"

// Alternate returns messages for models that accept one system message at the start and then only user and assistant in
// turn: a later system message becomes one of the user, and adjacent messages of one role are joined. Results of tools
// stay apart, since each answers its own call. The argument is not changed.
func Alternate(all []Message) []Message {
	out := make([]Message, 0, len(all))
	for _, m := range all {
		if m.Role == System && len(out) > 0 && out[len(out)-1].Role != System {
			m.Role = User
		}
		if last := len(out) - 1; last >= 0 && m.Role != Result && out[last].Role == m.Role {
			out[last] = join(out[last], m)
			continue
		}
		out = append(out, m)
	}
	return out
}

// join joins two messages of the same role.
func join(a, b Message) Message {
	a.Parts, a.Calls = slices.Clone(a.Parts), append(slices.Clone(a.Calls), b.Calls...)
	for _, p := range b.Parts {
		last := len(a.Parts) - 1
		if last >= 0 && a.Parts[last].Image == nil && p.Image == nil {
			a.Parts[last].Text = paragraphs(a.Parts[last].Text, p.Text)
			continue
		}
		a.Parts = append(a.Parts, p)
	}
	a.Reasoning = paragraphs(a.Reasoning, b.Reasoning)
	if a.Name != b.Name {
		a.Name = "" // several speakers
	}
	return a
}

func paragraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
