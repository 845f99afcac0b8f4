package verify

import (
	"context"
	"errors"
)

func (s *Service) judge(context.Context, Claim) (Score, error) {
	return Score{}, errors.New("no judge yet")
}
