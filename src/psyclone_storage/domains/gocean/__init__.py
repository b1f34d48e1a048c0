"""GOcean 1.0: kernels called once per point of a structured, staggered grid."""
