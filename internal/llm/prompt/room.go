package prompt

// usualAnswer is how many tokens are reserved for an answer of unbounded length, at most a quarter of the context.
const usualAnswer = 1024

// Room returns how many tokens a prompt may have in a context, beside an answer of at most maxTokens, nil for no limit. A limit
// above half the context is treated as half of it: it is a ceiling, not a wish for such a length.
func Room(context int, maxTokens *int) int {
	if maxTokens != nil {
		return context - min(*maxTokens, context/2)
	}
	return context - min(usualAnswer, context/4)
}
