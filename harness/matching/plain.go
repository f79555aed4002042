package matching

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"time"
)

// plain converts a value from any decoder or Go type to a JSON type: nil, bool, string, int64, uint64, float64,
// map[string]any or []any. It converts only one level, because the rest may not be compared.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64, float64, map[string]any, []any:
		return v
	case int:
		return int64(v)
	case json.Number:
		return plainNumber(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []byte:
		return string(v)
	default:
		return plainKind(reflect.ValueOf(v))
	}
}

func plainNumber(n json.Number) any {
	if whole, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return whole
	}
	if whole, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return whole
	}
	if broken, err := n.Float64(); err == nil {
		return broken
	}
	return n.String()
}

func plainKind(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return v.Float()
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem().Interface())
	case reflect.Map:
		fields := make(map[string]any, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			fields[fmt.Sprint(entries.Key().Interface())] = entries.Value().Interface()
		}
		return fields
	case reflect.Slice, reflect.Array:
		elements := make([]any, v.Len())
		for i := range elements {
			elements[i] = v.Index(i).Interface()
		}
		return elements
	default:
		return fmt.Sprint(v.Interface())
	}
}

// equalScalars compares two plain values. The first is neither a map nor a list.
func equalScalars(a, b any) bool {
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	if a == b {
		return true
	}
	x, y := number(a), number(b)
	return x != nil && y != nil && x.Cmp(y) == 0
}

// number returns the exact value of a plain number. It returns nil for anything else, and for infinities.
func number(v any) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case uint64:
		return new(big.Rat).SetUint64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	default:
		return nil
	}
}
