package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// Bounds of a transform.
const (
	maxTransform     = 4096 // characters
	transformTime    = 5 * time.Second
	maxResultNesting = 1000
)

// transform is a compiled jq program.
type transform struct{ code *gojq.Code }

// parseTransform compiles a program. It has no environment, no files and no further inputs.
func parseTransform(text string) (*transform, error) {
	if n := utf8.RuneCountInString(text); n > maxTransform {
		return nil, fmt.Errorf("has %d characters, more than the %d that are allowed", n, maxTransform)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is no jq program: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("is no jq program: %w", err)
	}
	return &transform{code}, nil
}

// run returns the one value that the program makes of v, as JSON of at most most bytes.
func (t *transform) run(ctx context.Context, v any, most int) (json.RawMessage, error) {
	return guard(ctx, transformTime, func(ctx context.Context) (json.RawMessage, error) {
		all := t.code.RunWithContext(ctx, v)
		out, ok := all.Next()
		if !ok {
			return nil, errors.New("it has no result")
		}
		if err, failed := out.(error); failed {
			return nil, err
		}
		if more, ok := all.Next(); ok {
			if err, failed := more.(error); failed {
				return nil, err
			}
			return nil, errors.New("it has more than one result; put them into a list")
		}
		if measure(out, 0, most) < 0 {
			return nil, fmt.Errorf("its result has more than %s of JSON or more than %d levels", bytesText(most), maxResultNesting)
		}
		return gojq.Marshal(out)
	})
}

// measure returns how many of left bytes remain behind the JSON of v, less than 0 if it has more or is nested too deeply. A
// value that occurs several times counts each time, as it is written.
func measure(v any, depth, left int) int {
	if depth > maxResultNesting {
		return -1
	}
	switch v := v.(type) {
	case string:
		left -= len(v) + 2
	case *big.Int:
		left -= v.BitLen()/4 + 1
	case []any:
		left -= 2
		for i := 0; i < len(v) && left >= 0; i++ {
			left = measure(v[i], depth+1, left-1)
		}
	case map[string]any:
		left -= 2
		for name, member := range v {
			if left = measure(member, depth+1, left-len(name)-4); left < 0 {
				break
			}
		}
	default:
		left--
	}
	return left
}

func bytesText(n int) string { return fmt.Sprintf("%d MiB", n>>20) }
