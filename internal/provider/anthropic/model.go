package anthropic

import (
	"strconv"
	"strings"
)

// generation is the version of a Claude model as a number that grows: 3.5 is 305. 0 stands for a name without a version.
type generation int

// From these generations on the API behaves differently (Anthropic's migration guides; docs/decisions/0025).
const (
	claude35       generation = 305
	claude4        generation = 400
	shapedFrom     generation = 405 // output_config.format constrains the answer
	prefillEndedIn generation = 406 // a conversation that ends with the assistant is refused
	samplingEnded  generation = 407 // temperature, top_p and top_k are refused
	thinksFrom     generation = 500 // thinks unless told not to, and so can't be forced to call a tool
)

// parseGeneration returns the generation in a name, of those that the API, Bedrock, Vertex and gateways use, such as
// claude-3-5-sonnet-20241022, us.anthropic.claude-opus-4-1-20250805-v1:0, claude-sonnet-4@20250514 and
// anthropic/claude-opus-5.5.
func parseGeneration(model string) generation {
	_, name, ok := strings.Cut(strings.ToLower(model), "claude-")
	if !ok {
		return 0
	}
	var numbers []int
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-.@:_/", r) }) {
		n, err := strconv.Atoi(part)
		if err != nil && len(numbers) == 0 {
			continue // the family stands before the number or after it
		}
		if err != nil || len(part) > 2 || len(numbers) == 2 {
			break // a family, a date or a revision
		}
		numbers = append(numbers, n)
	}
	switch len(numbers) {
	case 0:
		return 0
	case 1:
		return generation(numbers[0] * 100)
	}
	return generation(numbers[0]*100 + numbers[1])
}

// maxTokens returns the limit to send if the caller states none, since the API requires one. Every model of the generation
// accepts it; it leaves room for thinking.
func (g generation) maxTokens() int {
	switch {
	case g >= claude4:
		return 16384
	case g >= claude35:
		return 8192
	}
	return 4096
}
