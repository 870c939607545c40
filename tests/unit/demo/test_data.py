"""The demo's data."""

from __future__ import annotations

from datetime import date, timedelta

from airflow_kconnect.demo.data import stock_rows, weather_lines


class TestWeather:
    def test_each_day_of_four_years_has_one_line(self) -> None:
        days = [date.fromisoformat(line.partition(",")[0]) for line in weather_lines()]

        assert days == [date(2021, 1, 1) + timedelta(days=number) for number in range(1461)]

    def test_every_line_is_complete(self) -> None:
        assert {line.count(",") for line in weather_lines() if line.endswith("\n")} == {4}


class TestStocks:
    def test_each_company_has_a_price_a_month(self) -> None:
        rows = stock_rows()

        assert len(rows) == len({(row["symbol"], row["date"]) for row in rows}) == 560
