package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
)

var errFound = errors.New("found")

// Find returns the first item of a list operation of the account, such as llms, that is wanted; nil if there is none.
func Find[T any](ctx context.Context, cl *Client, list string, wanted func(*T) bool) (found *T, err error) {
	err = cl.Pages(ctx, "/v2/"+list, list, url.Values{}, func(items []json.RawMessage) error {
		for _, item := range items {
			var one T
			if err := json.Unmarshal(item, &one); err != nil {
				return err
			}
			if wanted(&one) {
				found = &one
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}
