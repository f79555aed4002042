// Package inlog transports the report folder of a shard in the log of its pod: lines beside the other output, from
// which the folder is restored. A log needs no volume, no storage and no permissions in the cluster.
package inlog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// mark begins each line: mark, an identifier, the line's number from 0, and base64; or mark, the identifier, "end",
	// the number of lines, and the SHA-256 of what they carry.
	mark = "#rehearse-report"
	// lineLength keeps a line below the 16 KiB at which container engines break it.
	lineLength = 8 << 10
	// Limit is how long all lines of a report may be together. A node keeps only the newest 10 MiB of a log where its
	// kubelet has the default configuration.
	Limit = 6 << 20
)

// Write prints the files of a folder. The first one has to be carried; where the others do not fit the largest of them
// are left out, and Write returns their names. The identifier tells the reports in one log apart; it has no blanks.
func Write(out io.Writer, id, dir, first string, others []string, limit int) (left []string, err error) {
	others = slices.Clone(others)
	sizes := map[string]int64{}
	for _, name := range others {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("carry a report in the log: %w", err)
		}
		sizes[name] = info.Size()
	}
	slices.SortStableFunc(others, func(a, b string) int { return cmp.Compare(sizes[a], sizes[b]) })
	for {
		data, err := Pack(dir, append([]string{first}, others...))
		if err != nil {
			return nil, fmt.Errorf("carry a report in the log: %w", err)
		}
		if base64.StdEncoding.EncodedLen(len(data)) <= limit {
			return left, printLines(out, id, data)
		}
		if len(others) == 0 {
			return left, fmt.Errorf("carry a report in the log: %s alone takes %d bytes, and %d fit", first, len(data), limit)
		}
		half := len(others) / 2
		left, others = append(left, others[half:]...), others[:half]
	}
}

func printLines(out io.Writer, id string, data []byte) error {
	text := base64.StdEncoding.EncodeToString(data)
	n := 0
	for part := range slices.Chunk([]byte(text), lineLength) {
		if _, err := fmt.Fprintf(out, "%s %s %d %s\n", mark, id, n, part); err != nil {
			return err
		}
		n++
	}
	sum := sha256.Sum256(data)
	_, err := fmt.Fprintf(out, "%s %s end %d %s\n", mark, id, n, hex.EncodeToString(sum[:]))
	return err
}

// Reader finds the reports in a log, line by line. The zero value is ready.
type Reader struct {
	parts map[string][]string
	// bad are the identifiers of reports with lines that are missing or changed.
	bad map[string]error
}

// Report is one that was carried whole.
type Report struct {
	ID   string
	data []byte
}

// Line takes the next line. It says whether the line belongs to a report, and returns the report that ends with it. A
// report that is broken is an error.
func (r *Reader) Line(line string) (ours bool, whole *Report, err error) {
	words := strings.Fields(line)
	if len(words) < 4 || words[0] != mark {
		return false, nil, nil
	}
	if r.parts == nil {
		r.parts, r.bad = map[string][]string{}, map[string]error{}
	}
	id := words[1]
	if words[2] != "end" {
		if n, err := strconv.Atoi(words[2]); err != nil || n != len(r.parts[id]) {
			r.bad[id] = cmp.Or(r.bad[id], fmt.Errorf("line %d of the report is missing in the log", len(r.parts[id])))
		}
		r.parts[id] = append(r.parts[id], words[3])
		return true, nil, nil
	}
	defer delete(r.parts, id)
	defer delete(r.bad, id)
	data, err := joined(r.parts[id], words[3:], r.bad[id])
	if err != nil {
		return true, nil, fmt.Errorf("the report of %s: %w", id, err)
	}
	return true, &Report{ID: id, data: data}, nil
}

// joined are the bytes of a report, if the last line says that they are all.
func joined(parts, end []string, bad error) ([]byte, error) {
	if bad != nil {
		return nil, bad
	}
	if len(end) != 2 || end[0] != strconv.Itoa(len(parts)) {
		return nil, fmt.Errorf("%d lines are there, and %s were written", len(parts), end[0])
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(parts, ""))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != end[1] {
		return nil, errors.New("its checksum does not match")
	}
	return data, nil
}

// Unfinished are the identifiers of reports whose end has not come.
func (r *Reader) Unfinished() []string {
	var all []string
	for id := range r.parts {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// Unpack writes the report's files into a folder, which it makes.
func (r *Report) Unpack(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("unpack the report of %s: %w", r.ID, err)
	}
	if err := Unpack(bytes.NewReader(r.data), dir); err != nil {
		return fmt.Errorf("unpack the report of %s: %w", r.ID, err)
	}
	return nil
}
