package planning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shard is one of several parts of a run, each for its own machine. The zero value is the whole run.
type Shard struct {
	// Number of the part, from 1, and how many parts there are.
	Number, Of int
}

// ParseShard parses 2/5, the second of five parts. "" is the whole run.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	number, of, _ := strings.Cut(text, "/")
	n, err1 := strconv.Atoi(number)
	all, err2 := strconv.Atoi(of)
	if err1 != nil || err2 != nil || n < 1 || all < 1 || n > all {
		return Shard{}, fmt.Errorf("shard %q: want NUMBER/ALL, from 1/ALL to ALL/ALL; 2/5 is the second of five", text)
	}
	return Shard{Number: n, Of: all}, nil
}

// String is 2/5; "" for the whole run.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// Deal returns the shard's part of some work, in the original order. It assigns the longest pieces first, each to the
// shard with the least work. So the same work gives the same shards on every machine.
func Deal[Piece any, Length int | time.Duration](s Shard, all []Piece, lengthOf func(Piece) Length) []Piece {
	if s.Of == 0 {
		return all
	}
	var mine []Piece
	for i, number := range dealt(s.Of, all, lengthOf) {
		if number == s.Number {
			mine = append(mine, all[i])
		}
	}
	return mine
}

// dealt returns the number of each piece's shard, from 1.
func dealt[Piece any, Length int | time.Duration](of int, all []Piece, lengthOf func(Piece) Length) []int {
	lengths, longest := make([]Length, len(all)), make([]int, len(all))
	for i, piece := range all {
		lengths[i], longest[i] = lengthOf(piece), i
	}
	slices.SortStableFunc(longest, func(a, b int) int { return cmp.Compare(lengths[b], lengths[a]) })
	work, numbers := make([]Length, of), make([]int, len(all))
	for _, i := range longest {
		least := slices.Index(work, slices.Min(work))
		work[least] += lengths[i]
		numbers[i] = least + 1
	}
	return numbers
}
