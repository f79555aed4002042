package expressions

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// plainValue converts a CEL value to what JSON would have: map[string]any, []any, string, int64, float64, bool or
// nil.
func plainValue(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Double:
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Uint:
		if v > math.MaxInt64 {
			return nil, fmt.Errorf("%d does not fit into a 64-bit integer", uint64(v))
		}
		return int64(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		return v.Format(time.RFC3339Nano), nil
	case types.Duration:
		return v.Duration.String(), nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, &MissingError{"the optional value is missing; give a default with orValue()"}
		}
		return plainValue(v.GetValue())
	case *types.Err:
		return nil, v
	case traits.Mapper:
		return plainMap(v)
	case traits.Lister:
		return plainList(v)
	}
	return nil, fmt.Errorf("a %s cannot be written as YAML; convert it to a string or a number", v.Type().TypeName())
}

func plainMap(v traits.Mapper) (any, error) {
	m := map[string]any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		text, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("a map with the key %v cannot be written as YAML: keys must be strings", key.Value())
		}
		value, err := plainValue(v.Get(key))
		if err != nil {
			return nil, err
		}
		m[string(text)] = value
	}
	return m, nil
}

func plainList(v traits.Lister) (any, error) {
	list := []any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		value, err := plainValue(it.Next())
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

// Format writes a plain value into a text.
func Format(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", errors.New("is null, which cannot be part of a string")
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1e15 {
			return strconv.FormatFloat(value, 'f', -1, 64), nil
		}
		return strconv.FormatFloat(value, 'g', -1, 64), nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("cannot be part of a string: %w", err)
	}
	return string(text), nil
}
