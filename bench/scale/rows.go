package main

import (
	"fmt"

	"quarry/bench/scale/data"
)

// prepare makes what takes long, so that later runs begin at once.
func (b *bench) prepare() error {
	if err := b.needStatic(); err != nil {
		return err
	}
	if err := b.needReal(); err != nil {
		return err
	}
	fmt.Printf("\n%d static vectors, %d of the encoder's\n", b.staticRows.Len(), b.realRows.Len())
	return nil
}

// needStatic makes the static vectors of passages and questions.
func (b *bench) needStatic() error {
	if b.staticRows.Dim > 0 {
		return nil
	}
	var err error
	b.staticRows, err = data.Kept(b.file("static.f32"), b.enc.Dim(), func() (v data.Vectors, err error) {
		b.static, v, err = data.NewStatic(b.enc, b.passages.Texts)
		return v, err
	})
	if err != nil {
		return err
	}
	b.staticAsked, err = data.Kept(b.file("static-%d.f32", b.queries), b.enc.Dim(), func() (data.Vectors, error) {
		if b.static == nil {
			if b.static, _, err = data.NewStatic(b.enc, b.passages.Texts); err != nil {
				return data.Vectors{}, err
			}
		}
		return b.static.Of(b.questions)
	})
	return err
}

// needReal encodes passages, as many as are wanted, and the questions.
func (b *bench) needReal() (err error) {
	if b.realRows.Dim > 0 {
		return nil
	}
	if b.realRows, err = data.Encode(b.file("real.f32"), b.enc, b.passages.Texts, b.order, b.real); err != nil {
		return err
	}
	b.encodedAsked, err = data.Encode(b.file("real-%d.f32", b.queries), b.enc, b.questions, upTo(len(b.questions)), len(b.questions))
	return err
}

// whole returns all passages in their order, with static vectors.
func (b *bench) whole() (*set, error) {
	if err := b.needStatic(); err != nil {
		return nil, err
	}
	return &set{name: "static", passages: b.passages, rows: upTo(len(b.passages.Texts)), vectors: b.staticRows}, nil
}

// encoded returns the passages that were encoded, with these vectors.
func (b *bench) encoded() (*set, error) {
	if err := b.needReal(); err != nil {
		return nil, err
	}
	return &set{name: "real", passages: b.passages, rows: b.order[:b.realRows.Len()], vectors: b.realRows}, nil
}

// like returns all passages with vectors among which those of queries that the service encodes have neighbours: the
// encoder's own where there are as many, otherwise static ones that a linear map takes there.
func (b *bench) like() (*set, error) {
	s, err := b.whole()
	if err != nil {
		return nil, err
	}
	if err := b.needReal(); err != nil {
		return nil, err
	}
	n := b.realRows.Len()
	if n < 2*b.enc.Dim() {
		return nil, fmt.Errorf("%d encoded passages are too few to learn from: -real", n)
	}
	s.name, s.texts = "like", true
	s.vectors, err = data.Kept(b.file("like-%d.f32", n), b.enc.Dim(), func() (data.Vectors, error) {
		learn := min(n, 20_000)
		m, err := data.Fit(b.staticRows.Pick(b.order[:learn]), b.realRows)
		if err != nil {
			return data.Vectors{}, err
		}
		v, err := m.Apply(b.staticRows)
		for place, at := range b.order[:n] {
			copy(v.Row(at), b.realRows.Row(place))
		}
		return v, err
	})
	return s, err
}

// upTo returns the numbers below n.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
