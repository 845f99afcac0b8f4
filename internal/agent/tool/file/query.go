package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/expr/jq"
	"quarry/internal/fault"
)

const queryDescription = "Runs a jq program over a JSON file of this session and returns what it gives. " +
	"A file with several JSON values, as JSON Lines have one in each line, is read as the list of them. Select no more than you need: large results lose their middle."

// Bounds of a query, in bytes.
const (
	maxJSON    = 64 << 20 // of the file, as it is in memory
	maxProgram = 64 << 20 // of what the program takes beside it
	maxResult  = 1 << 20
	maxDigits  = 10_000 // of a number: arithmetic with more takes its time
)

// expressionField is where a configuration pins the program.
const expressionField = "argument_override.expression"

// newQuery returns the type artifact_jq.
func newQuery(s *schema.Schema) tool.Type {
	one := make(chan struct{}, 1) // what two programs take at once can't be told apart
	run := func(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
		select {
		case one <- struct{}{}:
			defer func() { <-one }()
			return query(ctx, c)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		if err := unconfigured(configuration); err != nil {
			return nil, err
		}
		var pins struct {
			Override struct {
				Expression json.RawMessage `json:"expression"`
			} `json:"argument_override"`
		}
		var text string
		_ = json.Unmarshal(configuration, &pins) // package tool checks overrides
		if json.Unmarshal(pins.Override.Expression, &text) == nil && text != "" {
			if _, err := jq.Parse(text); err != nil {
				return nil, fault.InvalidField(expressionField, "%s", err)
			}
		}
		return &tool.Tool{Name: Query, Description: queryDescription, Schema: s, Repeat: tool.Reads, Run: run}, nil
	}
}

// queried is the output of artifact_jq.
type queried struct {
	ID     string `json:"artifact_id"`
	Count  int    `json:"result_count"`
	Cut    bool   `json:"truncated,omitempty"`
	Note   string `json:"note,omitempty"`
	Result any    `json:"result"`
}

func query(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	var args struct {
		ID         string `json:"artifact_id"`
		Expression string `json:"expression"`
	}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	program, err := jq.Parse(args.Expression)
	if err != nil {
		return nil, invalid("expression %s", err)
	}
	a, data, err := c.Files.Open(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = data.Close() }()
	if a.Size > maxJSON {
		return nil, invalid("%s has %d bytes, more than the %d MiB that can be queried; search it with artifact_grep", a.ID, a.Size, maxJSON>>20)
	}
	v, err := parse(data)
	if err != nil {
		return nil, invalid("%s (%s) can't be queried: %s", a.ID, a.MIME, err)
	}
	all, more, err := program.All(ctx, v, maxProgram, maxResult)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, jq.ErrTime):
		return nil, invalid("expression takes longer than %s with this file", jq.MaxTime)
	case errors.Is(err, jq.ErrMemory):
		return nil, invalid("expression needs more than %d MiB of memory with this file", maxProgram>>20)
	default:
		return nil, invalid("expression can't be run: %s", c.Mask.Message(err.Error()))
	}
	out := queried{ID: a.ID, Count: len(all), Cut: more, Result: all}
	switch {
	case len(all) == 1 && !more:
		out.Result = all[0]
	case len(all) == 0:
		out.Result = []any{}
	}
	if more {
		out.Note = "These are the first results, and there are more; select less, or count with [...] | length."
	}
	return encode(out)
}

// parse reads the values of a file: the one that there is, or the list of them.
func parse(r io.Reader) (any, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	switch memory, digits := weigh(raw); {
	case memory > maxJSON:
		return nil, errors.New("as values, it takes more than 64 MiB of memory; search it with artifact_grep")
	case digits > maxDigits:
		return nil, fmt.Errorf("it has a number of %d digits", digits)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var all []any
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF) && len(all) == 1:
			return all[0], nil
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, errors.New("it is empty")
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, errors.New("it is no JSON: " + err.Error())
		}
		all = append(all, v)
	}
}

// weigh returns about how many bytes of memory the values in JSON take, rather too many than too few, and how many digits stand in a row at
// most outside of texts.
func weigh(raw []byte) (memory, digits int) {
	const value, list, object, member = 48, 48, 240, 64
	n, depth, row, text := len(raw)+value, 0, 0, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if text || c < '0' || c > '9' {
			row = 0
		} else if row++; row > digits {
			digits = row
		}
		switch {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == ',', c == '\n' && depth == 0:
			n += value
		case c == '[':
			n, depth = n+list+value, depth+1
		case c == '{':
			n, depth = n+object+value, depth+1
		case c == ']', c == '}':
			depth--
		case c == ':':
			n += member
		}
	}
	return n, digits
}
