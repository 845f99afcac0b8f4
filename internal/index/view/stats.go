package view

// Stats describes the views of an index.
type Stats struct {
	Segments    int
	Rows        int   // live and deleted
	Live        int   // rows that searches see
	Documents   int   // live ones that have parts
	MappedBytes int64 // of files
	HeapBytes   int64 // of what is in memory alone
	Each        []SegmentStats
}

// SegmentStats describes one segment.
type SegmentStats struct {
	Number int // of its file, 0 in memory
	Rows   int // live and deleted
	Live   int // rows that searches see
	Bytes  int64
	Lists  int     // that its vectors are sorted into; 0 = they are compared one by one
	Share  float64 // of the lists that are read where every row passes
}

// Describe returns figures of views. It counts what lists, columns and files say of themselves and reads no row.
func Describe(views []*View) Stats {
	out := Stats{Segments: len(views)}
	for _, v := range views {
		one := SegmentStats{Number: v.Home.Number, Rows: v.Rows, Live: v.LiveRows}
		if v.Lists != nil {
			one.Lists, one.Share = v.Lists.Lists(), v.Lists.Share
		}
		var mapped int64
		for _, f := range v.Files() {
			all, m := f.Bytes()
			one.Bytes += all
			mapped += m
		}
		out.Rows += v.Rows
		out.Live += v.LiveRows
		out.Documents += v.LiveDocs
		out.MappedBytes += mapped
		out.HeapBytes += one.Bytes - mapped + v.Values.Bytes() + int64(8*len(v.Live)+4*len(v.Dead))
		out.Each = append(out.Each, one)
	}
	return out
}
